"""The plugin's own implementations of its hooks, for which all others go first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_clawperator.devices.pool import Candidate
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.execution.postprocess import PROCESSORS, Processor
from pytest_clawperator.plugin.evidence.report_sinks import own_sinks
from pytest_clawperator.plugin.leasing.candidates import find_candidates
from pytest_clawperator.plugin.leasing.phones.simulated import SimulatorScenario
from pytest_clawperator.report.sinks import ReportSink


@pytest.hookimpl(trylast=True)
def pytest_clawperator_list_devices(config: pytest.Config) -> Sequence[Candidate]:
    """Look for the devices of ``--claw-device``; without it, for the only one there is."""
    return find_candidates(config)


@pytest.hookimpl(trylast=True)
def pytest_clawperator_select_device(
    candidates: Sequence[Candidate], requirements: Requirements
) -> Candidate | None:
    """Take the first that meets the requirements."""
    return next((one for one in candidates if not requirements.unmet(one.info)), None)


@pytest.hookimpl(trylast=True)
def pytest_clawperator_simulator_scenario() -> SimulatorScenario:
    """Start phones as the simulator has them."""
    return SimulatorScenario()


@pytest.hookimpl(trylast=True)
def pytest_clawperator_processors() -> Sequence[Processor]:
    """Return the steps that every result needs."""
    return PROCESSORS


@pytest.hookimpl(trylast=True)
def pytest_clawperator_report_sinks(config: pytest.Config) -> Sequence[ReportSink]:
    """Return those of the reports that are asked for."""
    return own_sinks(config)
