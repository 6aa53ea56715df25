"""Simulated phones for a run, for as long as it lasts."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_clawperator.errors import TransportError
from pytest_clawperator.plugin.input.option_values import PROFILES, settings_of
from pytest_clawperator.plugin.leasing.phones.ended import PHONES_PLUGIN
from pytest_clawperator.plugin.session.device_failures import PREFIX, begin_message
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.session.hook_calls import call_hook, wrong_result
from pytest_clawperator.plugin.session.report_fields import DEVICE_PROPERTY, INFRASTRUCTURE
from pytest_clawperator.simulator.child_process import Simulator
from pytest_clawperator.transport.wire import AdbServer

# How long a process may take to end once it began to.
_ENDED_WITHIN = 3.0


@dataclass(frozen=True, kw_only=True)
class SimulatorScenario:
    """What simulated phones are like; the fields are options of the simulator."""

    apps: Sequence[str | Path] = ()
    faults: Sequence[str] = ()
    profile: str | None = None
    operator: str | None = None
    api: int | None = None
    seed: int | None = None
    time_scale: float | None = None
    chatter: float | None = None
    dark: bool = False


class RunSimulator(Simulator):
    """Simulated phones whose process is looked after."""

    def end(self, *, in_trouble: bool) -> str | None:
        """Return how the process ended, if it did so by itself; in trouble, look more closely."""
        code = self._process.poll() if self._process is not None else None
        if code is None and in_trouble:
            code = self._near_end()
        if code is None:
            return None
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"the simulated phones' process ended ({how})"

    def _near_end(self) -> int | None:
        """Wait for a process that is about to end: its adb server may be gone a moment before."""
        process = self._process
        try:
            AdbServer(self.adb_host, self.adb_port).ask("host:version", timeout=_ENDED_WITHIN)
        except TransportError:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(_ENDED_WITHIN) if process is not None else None
        return None


class SimulatedPhones:
    """The phones that this process started; shows once that they are gone."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._shown: set[int] = set()
        self.simulators: list[RunSimulator] = []
        #: How the Operator of each phone behaves, by its serial.
        self.profiles: dict[str, str] = {}

    def end_of(self, serial: str | None, *, in_trouble: bool = True) -> str | None:
        """Return how the process of a phone ended, or without a serial that of any."""
        for simulator, end in self._ends(serial, in_trouble):
            self._show(simulator, end)
            return end
        return None

    def end_unshown(self, serial: str | None) -> str | None:
        """Return the same for a worker that asks, and show nothing."""
        return next((end for _, end in self._ends(serial, in_trouble=True)), None)

    def _ends(self, serial: str | None, in_trouble: bool) -> Iterator[tuple[RunSimulator, str]]:
        for simulator in self.simulators:
            if serial is None or serial in simulator.serials:
                end = simulator.end(in_trouble=in_trouble)
                if end is not None:
                    yield simulator, end

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Look what became of the phones where a worker, which cannot know, had trouble."""
        if not getattr(report, INFRASTRUCTURE, False):
            return
        serial = dict(report.user_properties).get(DEVICE_PROPERTY)
        end = self.end_of(None if serial is None else str(serial))
        said = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
        if end is not None and end not in said:
            begin_message(report, f"{end}: {said.removeprefix(PREFIX)}")

    def _show(self, simulator: RunSimulator, end: str) -> None:
        if simulator.pid not in self._shown:
            self._shown.add(simulator.pid)
            events_of(self._config).notice("", end)


def start_simulator(config: pytest.Config, phones: int | str) -> Simulator:
    """Start this many phones, or phones of these kinds; they end with the run."""
    settings = settings_of(config)
    hook = config.hook.pytest_clawperator_simulator_scenario
    scenario = call_hook(hook, config=config)
    if not isinstance(scenario, SimulatorScenario):
        raise wrong_result(hook.name, scenario, f"a {__name__}.SimulatorScenario")
    options = {**vars(scenario), "apps": [*scenario.apps, *settings.sim_app]}
    if settings.sim_profile is not None:
        options["profile"] = settings.sim_profile
    if settings.sim_time_scale is not None:
        options["time_scale"] = settings.sim_time_scale
    simulator = RunSimulator(devices=phones, **options)
    config.add_cleanup(simulator.stop)
    started = _phones_of(config)
    started.simulators.append(simulator)
    simulator.start()
    started.profiles.update(dict.fromkeys(simulator.serials, options["profile"] or PROFILES[0]))
    return simulator


def _phones_of(config: pytest.Config) -> SimulatedPhones:
    phones = config.pluginmanager.get_plugin(PHONES_PLUGIN)
    if phones is None:
        phones = SimulatedPhones(config)
        config.pluginmanager.register(phones, PHONES_PLUGIN)
    return phones
