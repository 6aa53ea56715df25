"""Screenshots: drawn beside the event loop, and not again while nothing has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
            self._drawing = asyncio.get_running_loop().create_task(self._draw())
        # Others may wait for the same picture, so that one who leaves must not end its drawing.
        return await asyncio.shield(self._drawing)

    async def _draw(self) -> bytes:
        ui = self._system.ui
        if not self._system.display.awake:
            return await asyncio.to_thread(_black, ui.size)
        paint = _painting(ui.windows(), size=ui.size, dark=ui.dark, title=ui.title())
        return await asyncio.to_thread(paint)


def _has_failed(drawing: asyncio.Task[bytes]) -> bool:
    return drawing.done() and (drawing.cancelled() or drawing.exception() is not None)


def _painting(
    windows: list[Window], *, size: tuple[int, int], dark: bool, title: str | None
) -> Callable[[], bytes]:
    def paint() -> bytes:
        # Pillow costs more to import than everything else together.
        from pytest_clawperator.simulator.picture.render import draw

        return draw(windows, size=size, dark=dark, clock_text=CLOCK_TEXT, title=title)

    return paint


def _black(size: tuple[int, int]) -> bytes:
    from pytest_clawperator.simulator.picture.render import black_screen

    return black_screen(size)
