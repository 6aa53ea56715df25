"""Pictures of the screen: drawn beside the event loop, and again only after a change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Hashable
from dataclasses import dataclass

from pytest_clawperator.simulator.android.system import Display
from pytest_clawperator.simulator.picture.png import PngEncoder, beginning
from pytest_clawperator.simulator.screen.accessibility.nodes import Window
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi


@dataclass(frozen=True)
class ScreenView:
    """The windows, bottom to top, or None while the screen is off."""

    windows: list[Window] | None
    size: tuple[int, int]
    dark: bool = False
    title: str | None = None
    density: int | None = None
    font_scale: float = 1.0


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

    def key(self) -> Hashable:
        """Return a value that changes whenever the picture may have changed."""
        assert self._view is not None
        ui, display = self._view
        return self._views, ui.view.version, display.awake

    def png(self, *, dark: bool = False) -> Awaitable[bytes]:
        """Capture the screen as it is now, or a dark one; the picture is there once it is drawn.

        It is the last one if nothing has changed since.
        """
        if dark:
            assert self._view is not None
            view = ScreenView(None, self._view[0].display.size)
            return asyncio.ensure_future(asyncio.to_thread(_draw, view, self._encoder))
        key = self.key()
        if self._drawing is None or self._key != key or _has_failed(self._drawing):
            self._key = key
            drawing = asyncio.to_thread(_draw, self._look(), self._encoder)
            self._drawing = asyncio.get_running_loop().create_task(drawing)
        # Others may wait for the same picture, so that one who leaves must not end its drawing.
        return asyncio.shield(self._drawing)

    def png_beginning(self) -> bytes:
        """Return the PNG header, which a phone sends as soon as the screen is captured."""
        assert self._view is not None
        width, height = self._view[0].display.size
        return beginning((max(1, width), max(1, height)))

    def _look(self) -> ScreenView:
        assert self._view is not None
        ui, display = self._view
        if not display.awake:
            return ScreenView(None, ui.display.size)
        return ScreenView(
            ui.view.windows(),
            ui.display.size,
            dark=ui.display.dark,
            title=ui.view.title(),
            density=ui.display.density,
            font_scale=ui.display.font_scale,
        )


def _has_failed(drawing: asyncio.Task[bytes]) -> bool:
    return drawing.done() and (drawing.cancelled() or drawing.exception() is not None)


def _draw(view: ScreenView, encoder: PngEncoder) -> bytes:
    # Pillow costs more to import than everything else together, so it waits for a picture.
    from pytest_clawperator.simulator.phone.drawing import draw_screen

    return draw_screen(view, encoder)
