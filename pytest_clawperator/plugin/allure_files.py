"""What Allure shows of the whole run: the devices and versions, and categories of failures."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from pytest_clawperator.plugin.failures import DEVICE_FACTS
from pytest_clawperator.plugin.run import events_of
from pytest_clawperator.plugin.worker_input import is_worker
from pytest_clawperator.report.allure import write_run_files


def pytest_configure(config: pytest.Config) -> None:
    """Write the files where reports come together, if there is a report of Allure's."""
    folder = getattr(config.option, "allure_report_dir", None)
    if folder and not is_worker(config):
        path = config.invocation_params.dir / folder
        config.pluginmanager.register(AllureFiles(config, path), "clawperator-allure")


class AllureFiles:
    """Collects the devices of a run, and writes the files at its end."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._config = config
        self._folder = folder
        self._devices: dict[str, dict[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of devices."""
        self._devices.update(getattr(report, DEVICE_FACTS, {}))

    def pytest_sessionfinish(self) -> None:
        """Write the files, if a test used a device."""
        if not self._devices:
            return
        devices = {
            f"device.{serial}": ", ".join(f"{name} {one}" for name, one in about.items())
            for serial, about in sorted(self._devices.items())
        }
        versions = {"Python": platform.python_version(), "pytest": pytest.__version__}
        try:
            write_run_files(self._folder, {**versions, **devices})
        except OSError as exc:
            events_of(self._config).notice("", f"no environment in Allure's report: {exc}")
