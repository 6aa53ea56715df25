"""The display of a phone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Display:
    """The panel, and what ``wm`` put over it."""

    size: tuple[int, int]
    density: int
    forced_size: tuple[int, int] | None = None
    forced_density: int | None = None
    awake: bool = True
