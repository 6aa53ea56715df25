"""What kind of phone is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.operator.command import Profile

Variant = Literal["release", "dev", "absent"]
"""Which variant of the Operator is installed."""


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
