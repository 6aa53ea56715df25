"""A plugin for runs of whole suites: simulated phones whose Operator pauses briefly."""

from __future__ import annotations

from pytest_clawperator.plugin.phones import SimulatorScenario


def pytest_clawperator_simulator_scenario() -> SimulatorScenario:
    """Shorten the Operator's pauses; the apps keep their own time."""
    return SimulatorScenario(seed=6, time_scale=0.02)
