"""Which widget has the input focus, and the keyboard that comes with it."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.state.changes import Changes
from pytest_clawperator.simulator.screen.state.keyboard import Keyboard
from pytest_clawperator.simulator.screen.state.page import Page


class InputFocus:
    """The focused widget, as its page and its path there, and the on-screen keyboard."""

    def __init__(self, changes: Changes) -> None:
        self.keyboard = Keyboard()
        self._changes = changes
        self._page: Page | None = None
        self._path = ""

    def move_to(self, page: Page, path: str, *, show_keyboard: bool = False) -> None:
        """Focus a widget; without ``show_keyboard`` the keyboard stays up or down as it is."""
        self._page, self._path = page, path
        if show_keyboard:
            self.keyboard.show()
        self._changes.note()

    def clear(self) -> None:
        """Take the focus away, and the keyboard with it."""
        self._page = None
        self.keyboard.hide()

    def hide_keyboard(self) -> None:
        """Close the keyboard; the focus stays."""
        if self.keyboard.hide():
            self._changes.note()

    def path_on(self, page: Page) -> str | None:
        """Return the path of the focused widget on a page; None where the page has none."""
        return self._path if self._page is page else None

    @property
    def widget(self) -> str | None:
        """The focused widget, as nodes name it."""
        return None if self._page is None else self._page.widget_name(self._path)
