"""The hooks of the plugin, each with the process that calls it.

The *controller* is the process that was started: with ``-n`` the one that hands tests out,
without it the only one. A *worker* is a process that runs tests: with ``-n`` one of several,
without it the only one. In the controller of ``-n`` only the conftest files beside the
configuration file or the paths on the command line are loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_clawperator.client.client import Clawperator
    from pytest_clawperator.contracts.device_info import DeviceInfo
    from pytest_clawperator.contracts.envelope import ResultEnvelope
    from pytest_clawperator.contracts.payload import Execution
    from pytest_clawperator.devices.pool import Candidate
    from pytest_clawperator.devices.requirements import Requirements
    from pytest_clawperator.execution.postprocess import Processor
    from pytest_clawperator.plugin.phones import SimulatorScenario
    from pytest_clawperator.report.sinks import ReportSink


@pytest.hookspec(firstresult=True)
def pytest_clawperator_list_devices(config: pytest.Config) -> Sequence[Candidate] | None:
    """List the devices that this run may use, preferred ones first.

    Called in the controller, once, before the first device is used. The built-in one asks
    the adb servers, starts simulated phones and takes hosts by their url, as
    ``--claw-device`` says. Return None to leave it to others.
    """


@pytest.hookspec(firstresult=True)
def pytest_clawperator_select_device(
    candidates: Sequence[Candidate], requirements: Requirements, worker_id: str
) -> Candidate | None:
    """Choose one of the free devices for a worker.

    Called in the controller when a worker starts; ``worker_id`` is ``gw0`` and so on, or
    ``main`` without ``-n``. ``requirements`` is what ``--claw-require`` asks of a device, and
    without ``-n`` also the class of a matrix; markers of single tests are not known yet. The
    built-in one takes the first that meets the requirements.
    """


@pytest.hookspec
def pytest_clawperator_device_ready(device: DeviceInfo, client: Clawperator) -> None:
    """Prepare a device, for example install an app or set a language.

    Called in the worker, once for each device, before the first test that uses it.
    """


@pytest.hookspec
def pytest_clawperator_device_released(device: DeviceInfo, failed: bool) -> None:
    """Clean up after a device was used; ``failed``: whether a test failed in this worker.

    Called in the worker, once for each device, after its connection was closed.
    """


@pytest.hookspec
def pytest_clawperator_processors() -> Sequence[Processor] | None:
    """Return functions ``(envelope, collected) -> envelope`` that complete each result.

    Called in the worker, once for each device. All that are returned run, the built-in ones
    first.
    """


@pytest.hookspec
def pytest_clawperator_execution_finished(
    execution: Execution, envelope: ResultEnvelope | None, device: DeviceInfo
) -> None:
    """Observe an execution that has finished; ``envelope`` is None if none was returned.

    Called in the worker after each execution.
    """


@pytest.hookspec
def pytest_clawperator_collect_artifacts(
    item: pytest.Item, report: pytest.TestReport, client: Clawperator
) -> Sequence[Path] | None:
    """Collect more evidence of a failure, and return the files that hold it.

    Called in the worker when a test failed, while the device is still in that state.
    """


@pytest.hookspec
def pytest_clawperator_report_sinks(config: pytest.Config) -> Sequence[ReportSink] | None:
    """Return sinks for reports of other formats, which receive what happens in tests with devices.

    Called in the worker, once, before the first test that uses a device. The built-in ones are
    for Allure, pytest-html and JUnit XML.
    """


@pytest.hookspec(firstresult=True)
def pytest_clawperator_simulator_scenario(config: pytest.Config) -> SimulatorScenario | None:
    """Return what simulated phones are like: their apps, and what goes wrong on them.

    Called in the controller when ``--claw-device sim`` starts them. ``--claw-sim-app``,
    ``--claw-sim-profile`` and ``--claw-sim-time-scale`` come on top.
    """
