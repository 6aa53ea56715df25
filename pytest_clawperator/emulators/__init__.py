"""PHONES MADE HERE: Android emulators, from the SDK's tools to a booted device.

``Emulators`` lists, inspects, creates, starts, stops, deletes and provisions them.
"""

from pytest_clawperator.emulators.avd import Avd, EmulatorProfile, parse_profile
from pytest_clawperator.emulators.boot import RunningEmulator
from pytest_clawperator.emulators.emulators import Emulators, ProvisionedEmulator

__all__ = [
    "Avd",
    "EmulatorProfile",
    "Emulators",
    "ProvisionedEmulator",
    "RunningEmulator",
    "parse_profile",
]
