"""Pictures of the screen: drawn beside the event loop, and not again while nothing has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.screen.nodes import Window

CLOCK_TEXT = "10:00"
"""What the drawn clock shows; it stands still, so that equal screens give equal pictures."""


class ScreenPicture:
    """Draws the screen of one phone."""

    def __init__(self, system: AndroidSystem) -> None:
        self._system = system
        self._key: Hashable = None
        self._drawing: asyncio.Task[bytes] | None = None

    def key(self) -> Hashable:
        """Give a value that is another one whenever the picture may be another one."""
        return self._system.ui.version, self._system.display.awake

    async def png(self) -> bytes:
        """Give the picture, the last one if it is still true."""
        key = self.key()
        if self._drawing is None or self._key != key or _has_failed(self._drawing):
            self._key = key
            drawing = asyncio.to_thread(self._look().png)
            self._drawing = asyncio.get_running_loop().create_task(drawing)
        # Others may wait for the same picture, so that one who leaves must not end its drawing.
        return await asyncio.shield(self._drawing)

    async def jpeg(self, frame: tuple[int, int]) -> bytes:
        """Draw a frame of that size for a film."""
        return await asyncio.to_thread(self._look().jpeg, frame)

    def _look(self) -> _Look:
        ui = self._system.ui
        if not self._system.display.awake:
            return _Look(None, ui.size)
        return _Look(ui.windows(), ui.size, dark=ui.dark, title=ui.title())


def _has_failed(drawing: asyncio.Task[bytes]) -> bool:
    return drawing.done() and (drawing.cancelled() or drawing.exception() is not None)


@dataclass(frozen=True)
class _Look:
    """What shows at one moment; no windows at all while the screen is off.

    Pillow costs more to import than everything else together, so it waits for a picture.
    """

    windows: list[Window] | None
    size: tuple[int, int]
    dark: bool = False
    title: str | None = None

    def png(self) -> bytes:
        from pytest_clawperator.simulator.picture.render import black_screen, draw

        if self.windows is None:
            return black_screen(self.size)
        return draw(
            self.windows,
            size=self.size,
            dark=self.dark,
            clock_text=CLOCK_TEXT,
            title=self.title,
        )

    def jpeg(self, frame: tuple[int, int]) -> bytes:
        from pytest_clawperator.simulator.picture.frame import black_frame, encode_frame
        from pytest_clawperator.simulator.picture.render import paint

        if self.windows is None:
            return black_frame(frame)
        image = paint(
            self.windows,
            size=self.size,
            dark=self.dark,
            clock_text=CLOCK_TEXT,
            title=self.title,
        )
        return encode_frame(image, frame)
