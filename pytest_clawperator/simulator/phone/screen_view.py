"""What a screen shows at one moment: all that is needed to draw it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clawperator.simulator.screen.accessibility import Window


@dataclass(frozen=True)
class ScreenView:
    """The windows, bottom to top, or None while the screen is off."""

    windows: list[Window] | None
    size: tuple[int, int]
    dark: bool = False
    title: str | None = None
    density: int | None = None
    font_scale: float = 1.0
