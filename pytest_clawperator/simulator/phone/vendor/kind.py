"""How a phone is sold that has quirks: its version, its language, its name on the network."""

from __future__ import annotations

from dataclasses import replace

from pytest_clawperator.simulator.phone.options import DeviceOptions
from pytest_clawperator.simulator.wire.connection import FEATURES

# The last version whose adbd sends no exit codes, and whose tools are mostly those of toolbox.
_OLD_API = 23
_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "iw", "ps", "ur", "yi"})


def as_sold(options: DeviceOptions) -> DeviceOptions:
    """Return the options of a phone as its quirks have them."""
    quirks = options.quirks
    if "old-toybox" in quirks:
        options = replace(options, api=min(options.api, _OLD_API))
    if "rtl" in quirks and options.locale.split("-")[0] not in _RIGHT_TO_LEFT:
        options = replace(options, locale="ar-EG")
    return options


def features_of(options: DeviceOptions) -> tuple[str, ...]:
    """Return what its adbd tells hosts that it can do."""
    return () if "old-toybox" in options.quirks else FEATURES


def wifi_name(serial_number: str) -> str:
    """Return the name of a phone on Wi-Fi whose own name somebody else still has."""
    return f"adb-{serial_number}-aBcDeF (2)._adb-tls-connect._tcp"
