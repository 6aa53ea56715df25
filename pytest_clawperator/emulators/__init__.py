"""PHONES MADE HERE: Android emulators, from the SDK's tools to a booted device.

``Emulators`` lists, inspects, creates, starts, stops, deletes and provisions them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_clawperator.emulators.avd import Avd, EmulatorProfile, parse_profile
from pytest_clawperator.emulators.boot import RunningEmulator
from pytest_clawperator.emulators.emulators import Emulators, ProvisionedEmulator

if TYPE_CHECKING:
    from pytest_clawperator.emulators.checkpoints import Checkpoints as Checkpoints

__all__ = [
    "Avd",
    "Checkpoints",
    "EmulatorProfile",
    "Emulators",
    "ProvisionedEmulator",
    "RunningEmulator",
    "parse_profile",
]


def __getattr__(name: str) -> Any:
    """Import checkpoints when they are asked for: they need a client, the rest does not."""
    if name != "Checkpoints":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_clawperator.emulators.checkpoints import Checkpoints

    return Checkpoints
