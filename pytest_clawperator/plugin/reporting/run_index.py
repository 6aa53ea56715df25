"""The index of the run: a line for each attempt at a test as it ends, and a page at the end."""

from __future__ import annotations

import os
import platform
from collections.abc import Generator
from pathlib import Path

import pytest

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.evidence.tracing.hooks import UNFINISHED
from pytest_clawperator.plugin.evidence.used_clients import clients_of
from pytest_clawperator.plugin.input.option_values import settings_of
from pytest_clawperator.plugin.reporting.attempt_reports import AttemptReports
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.session.report_fields import (
    DEVICE_FACTS,
    ERROR,
    MARKERS,
    USED_DEVICES,
)
from pytest_clawperator.plugin.session.run_folder import run_folder, run_id, shown_path
from pytest_clawperator.plugin.session.terminal_lines import write_line
from pytest_clawperator.plugin.stash import TOLD_DEVICES
from pytest_clawperator.plugin.worker_input import is_worker
from pytest_clawperator.report.index import (
    INDEX_FILE,
    PAGE_FILE,
    DeviceSeen,
    RunBegan,
    RunEnded,
    RunLog,
    read_run,
    write_index,
)
from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import now, read_trace, traces_in

# Markers that say how a test is run, and not what it is.
_TECHNICAL = ("parametrize", "usefixtures", "filterwarnings")
_LONGEST_MESSAGE = 500


def pytest_configure(config: pytest.Config) -> None:
    """Keep an index, except in workers, whose reports come together in the controller."""
    if not is_worker(config) and settings_of(config).trace != "off":
        config.pluginmanager.register(RunIndex(config), "clawperator-index")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what only the process of the test knows."""
    report = yield
    if call.excinfo is not None:
        setattr(report, ERROR, _told(call.excinfo.value))
    if report.when == "setup":
        markers = dict.fromkeys(marker.name for marker in item.iter_markers())
        setattr(report, MARKERS, [name for name in markers if name not in _TECHNICAL])
    if facts := _new_facts(item):
        setattr(report, DEVICE_FACTS, facts)
    return report


def _told(error: BaseException) -> dict[str, str]:
    code = getattr(error, "code", None)
    message = getattr(error, "message", None)
    text = message if isinstance(message, str) else str(error)
    first = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    told = {"message": first[:_LONGEST_MESSAGE]}
    return told if code is None else {**told, "code": str(getattr(code, "value", code))}


def _new_facts(item: pytest.Item) -> dict[str, dict[str, str]]:
    """Return what the devices of a test are, as far as this process did not tell it yet."""
    told = item.config.stash.setdefault(TOLD_DEVICES, set())
    new = {}
    for activity in clients_of(item):
        info = activity.client.device.info
        if info.serial not in told:
            told.add(info.serial)
            about = {"model": info.model, "Android": info.release, "API level": info.api_level}
            new[info.serial] = {name: str(one) for name, one in about.items() if one is not None}
    return new


class RunIndex:
    """Writes the index of a run, if a test of it uses a device."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folder = run_folder(config)
        self._log = RunLog(self._folder)
        self._attempts = AttemptReports(self._relative)
        self._page: Path | None = None
        environment = {"Python": platform.python_version(), "pytest": pytest.__version__}
        self._log.add(RunBegan(at=now(), run=run_id(config), environment=environment))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Take note of when a test began: its process may not live to tell."""
        self._attempts.began(nodeid, now())

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a line when an attempt is over."""
        try:
            if getattr(report, USED_DEVICES, None):
                self._log.open()
            for serial, about in getattr(report, DEVICE_FACTS, {}).items():
                self._log.add(DeviceSeen(at=now(), serial=serial, about=about))
            for ended in self._attempts.add(report):
                self._log.add(ended)
        except OSError as exc:
            self._give_up(exc)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the page, and those of tests that were broken off."""
        try:
            for ended in self._attempts.rest():
                self._log.add(ended)
            if not self._log.is_open:
                return
            self._log.add(RunEnded(at=now(), exit=int(exitstatus)))
            self._log.close()
            self._write_unfinished()
            write_index([read_run(self._folder)], self._folder / INDEX_FILE)
            self._page = self._folder / INDEX_FILE
        except OSError as exc:
            self._give_up(exc)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where the page is."""
        if self._page is not None and terminalreporter.config.get_verbosity() >= 0:
            terminalreporter.section("report")
            write_line(terminalreporter, shown_path(self._config, self._page))

    def _write_unfinished(self) -> None:
        """Write pages of traces whose processes were killed."""
        for trace in traces_in(self._folder / UNFINISHED):
            try:
                write_page(read_trace(trace.folder), trace.folder / PAGE_FILE)
            except ClawperatorError as exc:
                events_of(self._config).notice("", f"no page of {trace.nodeid}: {exc.message}")

    def _relative(self, folder: str) -> str:
        """Return a folder that a report names as seen from the folder of the run."""
        path = self._config.invocation_params.dir / folder
        return Path(os.path.relpath(path, self._folder)).as_posix()

    def _give_up(self, error: OSError) -> None:
        """Say that there is no index; no test fails for that."""
        events_of(self._config).notice("", f"no index of the run: {error}")
        self._config.pluginmanager.unregister(self)
