"""What the Operator app uses of the phone that it is installed on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.android.state.settings import SettingsStore
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.log.buffer import LogBuffer
from pytest_clawperator.simulator.phone_clock import PhoneClock
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.stats import Stats


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The parts of the phone; ``dismiss_shade`` closes the notification shade."""

    ui: PhoneUi
    log: LogBuffer
    faults: Faults
    files: FileSystem
    settings: SettingsStore
    stats: Stats
    clock: PhoneClock
    dismiss_shade: Callable[[], None]
