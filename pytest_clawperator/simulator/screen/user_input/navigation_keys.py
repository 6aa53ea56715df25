"""The keys that lead from page to page: back, home, and recent apps."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.actions.launching import Launching
from pytest_clawperator.simulator.screen.actions.navigation import Navigation
from pytest_clawperator.simulator.screen.state.foreground import Foreground


class NavigationKeys:
    """The three keys; they always work, so each returns True."""

    def __init__(
        self, foreground: Foreground, *, navigation: Navigation, launching: Launching
    ) -> None:
        self._foreground = foreground
        self._navigation = navigation
        self._launching = launching

    def back(self) -> bool:
        """Press back: close the uppermost thing that can be closed."""
        foreground = self._foreground
        task = foreground.task()
        if foreground.keyboard_is_up():
            foreground.focus.hide_keyboard()
        elif foreground.alerts:
            foreground.alerts.pop()
            foreground.page_closed()
        elif foreground.chooser is not None:
            foreground.chooser = None
            foreground.page_closed()
        elif foreground.recents_page is not None:
            foreground.close_recents()
        elif task is not None and task.prompt is None:
            self._navigation.back(task)
        return True

    def home(self) -> bool:
        """Press home."""
        return self._launching.home()

    def recents(self) -> bool:
        """Press the key of the recent apps."""
        return self._launching.recents()
