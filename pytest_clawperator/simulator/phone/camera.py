"""Pictures of the screen: drawn beside the event loop, and again only after a change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Any

from pytest_clawperator.simulator.android.system import Display
from pytest_clawperator.simulator.picture.png import PngEncoder, beginning
from pytest_clawperator.simulator.screen.accessibility import Window
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi

# The drawn clock stands still, so that equal screens give equal pictures.
_CLOCK_TEXT = "10:00"


class Camera:
    """Takes pictures of one phone's screen, also after the phone was reset."""

    def __init__(self) -> None:
        self._view: tuple[PhoneUi, Display] | None = None
        self._views = 0
        self._key: Hashable = None
        self._drawing: asyncio.Task[bytes] | None = None
        self._encoder = PngEncoder()

    def point_at(self, ui: PhoneUi, display: Display) -> None:
        """Take pictures of this screen from now on."""
        self._view = ui, display
        self._views += 1

    def png(self, *, dark: bool = False) -> Awaitable[bytes]:
        """Capture the screen as it is now, or a dark one; await the result for the picture.

        It is the last picture if nothing has changed since.
        """
        ui, display = self._looked_at()
        if dark:
            return asyncio.ensure_future(asyncio.to_thread(_draw, None, ui.display.size))
        key = self._views, ui.view.version, display.awake
        if self._drawing is None or self._key != key or _has_failed(self._drawing):
            self._key = key
            drawing = asyncio.to_thread(self._captured())
            self._drawing = asyncio.get_running_loop().create_task(drawing)
        # Several callers may wait for the same picture, and one that leaves must not end it.
        return asyncio.shield(self._drawing)

    def png_beginning(self) -> bytes:
        """Return the PNG header, which a phone sends as soon as the screen is captured."""
        width, height = self._looked_at()[0].display.size
        return beginning((max(1, width), max(1, height)))

    def _looked_at(self) -> tuple[PhoneUi, Display]:
        assert self._view is not None
        return self._view

    def _captured(self) -> Callable[[], bytes]:
        """Return what draws the screen as it is now."""
        ui, display = self._looked_at()
        if not display.awake:
            return partial(_draw, None, ui.display.size)
        return partial(
            _draw,
            ui.view.windows(),
            ui.display.size,
            dark=ui.display.dark,
            clock_text=_CLOCK_TEXT,
            density=ui.display.density,
            font_scale=ui.display.font_scale,
            encoder=self._encoder,
        )


def _has_failed(drawing: asyncio.Task[bytes]) -> bool:
    return drawing.done() and (drawing.cancelled() or drawing.exception() is not None)


def _draw(windows: Sequence[Window] | None, size: tuple[int, int], **options: Any) -> bytes:
    """Draw the windows, bottom to top, or a black screen if there are none."""
    # Pillow costs more to import than everything else together, so it waits for a picture.
    from pytest_clawperator.simulator.picture.render import black_screen, draw

    return black_screen(size) if windows is None else draw(windows, size=size, **options)
