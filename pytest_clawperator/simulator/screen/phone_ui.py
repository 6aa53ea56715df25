"""The user interface of one simulated phone: its parts, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from pytest_clawperator.simulator.screen.actions import Verbs
from pytest_clawperator.simulator.screen.foreground import Foreground
from pytest_clawperator.simulator.screen.launching import (
    AppProcesses,
    InstalledApps,
    Launching,
    Links,
)
from pytest_clawperator.simulator.screen.navigation import Navigation
from pytest_clawperator.simulator.screen.phone_state import (
    Fetch,
    PhoneState,
    no_network,
)
from pytest_clawperator.simulator.screen.system_pages import Permissions
from pytest_clawperator.simulator.screen.touch import Touch
from pytest_clawperator.simulator.screen.widget_input import NodeActions, TextEntry, WidgetActions
from pytest_clawperator.simulator.screen.windows import View

T = TypeVar("T")


class _Part(Generic[T]):
    """A part of the phone; before it is taken, everything happens that is due by then."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, ui: PhoneUi, owner: type) -> T:
        ui.catch_up()
        part: T = getattr(ui, self._name)
        return part


class PhoneUi:
    """The screen of one phone, its apps, and what can be done to them.

    Time passes whenever one of the parts is taken, or ``catch_up`` is called: everything that is
    due happens, in order, each thing at its own time. So take a part again for each use, as in
    ``ui.touch.tap(x, y)``; do not keep it.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        size: tuple[int, int] = (1080, 2400),
        density: int | None = None,
        launch_delay: float = 0.0,
        fetch: Fetch = no_network,
    ) -> None:
        state = PhoneState(clock, size=size, density=density)
        state.foreground.launch_delay = launch_delay
        state.fetch = fetch
        self._state = state
        self._timeline = state.timeline
        self.display = state.display
        self.changes = state.changes
        self._permissions = state.permissions
        navigation = Navigation(state)
        self._processes = AppProcesses(state)
        self._launching = Launching(state, navigation=navigation, processes=self._processes)
        self._links = Links(state, navigation)
        self._apps = InstalledApps(state, processes=self._processes, launching=self._launching)
        verbs = Verbs(state, navigation, launching=self._launching, links=self._links)
        navigation.verbs = verbs.table()
        self._view = View(state)
        widgets = WidgetActions(state, navigation)
        self._typing = TextEntry(state, view=self._view, widgets=widgets)
        self._nodes = NodeActions(
            changes=state.changes, view=self._view, widgets=widgets, typing=self._typing
        )
        self._touch = Touch(
            state,
            view=self._view,
            nodes=self._nodes,
            widgets=widgets,
            navigation=navigation,
            launching=self._launching,
        )
        self._keys = NavigationKeys(
            state.foreground, navigation=navigation, launching=self._launching
        )

    def watch_plan(self, on_planned: Callable[[], None]) -> None:
        """Call ``on_planned`` whenever ``next_due`` becomes an earlier moment."""
        self._timeline.on_planned = on_planned

    @property
    def next_due(self) -> float | None:
        """When something will happen by itself; None if nothing will."""
        return self._timeline.next_due

    def catch_up(self) -> None:
        """Let everything happen that is due."""
        self._timeline.advance()

    view = _Part[View]()
    """What shows."""
    touch = _Part[Touch]()
    """Taps, long presses and swipes at points."""
    nodes = _Part[NodeActions]()
    """Accessibility actions on single nodes."""
    typing = _Part[TextEntry]()
    """Typing into the focused field."""
    keys = _Part["NavigationKeys"]()
    """Back, home and recent apps."""
    apps = _Part[InstalledApps]()
    """Installing and removing apps."""
    launching = _Part[Launching]()
    """Starting apps and moving between them."""
    links = _Part[Links]()
    """Opening deep links."""
    processes = _Part[AppProcesses]()
    """Which apps run, and killing them."""
    permissions = _Part[Permissions]()
    """The runtime permissions that apps have."""


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
