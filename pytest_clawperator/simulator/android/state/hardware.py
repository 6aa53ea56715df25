"""The battery and the display."""

from __future__ import annotations

from dataclasses import dataclass

CORES = 8
MEMORY_KB = 7_811_328
"""How much memory the phone has, and how much of it is free."""

FREE_KB = 1_204_880


@dataclass
class Battery:
    """What ``dumpsys battery`` prints and sets."""

    ac: bool = False
    usb: bool = True
    wireless: bool = False
    dock: bool = False
    present: bool = True
    status: int = 2
    level: int = 85
    temperature: int = 271
    forced: bool = False

    @property
    def powered(self) -> bool:
        """Whether anything charges it."""
        return self.ac or self.usb or self.wireless or self.dock


@dataclass
class Display:
    """The panel, and what ``wm`` put over it."""

    size: tuple[int, int]
    density: int
    forced_size: tuple[int, int] | None = None
    forced_density: int | None = None
    awake: bool = True
