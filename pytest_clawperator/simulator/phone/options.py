"""The options of a simulated phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.wire.adbd import FEATURES

Variant = Literal["release", "dev", "absent"]
"""Which variant of the Operator is installed."""

# The last version whose adbd sends no exit codes, and whose tools are mostly those of toolbox.
_OLD_API = 23
_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "iw", "ps", "ur", "yi"})


@dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """What kind of phone it is; ``apps`` are installed on it, by default those that are shipped.

    Phones with the same ``image`` have the same build of Android, whatever their ``seed``.
    """

    serial_number: str
    model: str = "Pixel 9"
    api: int = 36
    size: tuple[int, int] = (1080, 2400)
    density: int = 420
    apps: Sequence[App] | None = None
    profile: Profile = "documented"
    operator: Variant = "release"
    time_scale: float = 1.0
    seed: int = 0
    chatter: float = 0.0
    dark: bool = False
    avd_name: str | None = None
    image: str | None = None
    locale: str = "en-US"
    quirks: frozenset[str] = frozenset()


def as_sold(options: DeviceOptions) -> DeviceOptions:
    """Return the options with what the quirks of the phone change in them."""
    quirks = options.quirks
    if "old-toybox" in quirks:
        options = replace(options, api=min(options.api, _OLD_API))
    if "rtl" in quirks and options.locale.split("-")[0] not in _RIGHT_TO_LEFT:
        options = replace(options, locale="ar-EG")
    return options


def features_of(options: DeviceOptions) -> tuple[str, ...]:
    """Return the features that its adbd announces to hosts."""
    return () if "old-toybox" in options.quirks else FEATURES


def wifi_name(serial_number: str) -> str:
    """Return the serial of a phone on Wi-Fi whose first name is still taken."""
    return f"adb-{serial_number}-aBcDeF (2)._adb-tls-connect._tcp"
