"""Simulated phones for a run, for as long as it lasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Thread

import pytest

from pytest_clawperator.plugin.options import settings_of
from pytest_clawperator.plugin.stash import WORKERS
from pytest_clawperator.simulator.process import Simulator

_NEXT = "pytest_clawperator.plugin.connecting"


@dataclass(frozen=True, kw_only=True)
class SimulatorScenario:
    """How simulated phones are; the fields are options of the simulator."""

    apps: Sequence[str | Path] = ()
    faults: Sequence[str] = ()
    profile: str | None = None
    operator: str | None = None
    api: int | None = None
    seed: int | None = None
    time_scale: float | None = None
    chatter: float | None = None
    dark: bool = False
    release_tags: bool = False


def start_simulator(config: pytest.Config, phones: int) -> Simulator:
    """Start so many phones; they end with the run."""
    settings = settings_of(config)
    scenario = config.hook.pytest_clawperator_simulator_scenario(config=config)
    options = {**vars(scenario), "apps": [*scenario.apps, *settings.sim_app]}
    if settings.sim_profile is not None:
        options["profile"] = settings.sim_profile
    simulator = Simulator(devices=phones, **options)
    config.add_cleanup(simulator.stop)
    if WORKERS not in config.stash:
        # What this process needs next is loaded while the phones start.
        Thread(target=import_module, args=(_NEXT,), daemon=True).start()
    return simulator.start()
