"""The user interface of one simulated phone: its parts, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from pytest_clawperator.simulator.screen import phone_state
from pytest_clawperator.simulator.screen.actions import Verbs
from pytest_clawperator.simulator.screen.launching import (
    AppProcesses,
    InstalledApps,
    Launching,
    Links,
)
from pytest_clawperator.simulator.screen.navigation import Navigation
from pytest_clawperator.simulator.screen.system_pages import Permissions
from pytest_clawperator.simulator.screen.user_input import (
    NodeActions,
    Touch,
    WidgetActions,
)
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
        fetch: phone_state.Fetch = phone_state.no_network,
    ) -> None:
        state = phone_state.PhoneState(clock, size=size, density=density)
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
        self._keys = self._launching
        self._links = Links(state, navigation)
        self._apps = InstalledApps(state, processes=self._processes, launching=self._launching)
        verbs = Verbs(state, navigation, launching=self._launching, links=self._links)
        navigation.verbs = verbs.table()
        self._view = View(state)
        widgets = self._typing = WidgetActions(state, navigation, self._view)
        self._nodes = NodeActions(state.changes, view=self._view, widgets=widgets)
        self._touch = Touch(
            state,
            view=self._view,
            nodes=self._nodes,
            widgets=widgets,
            navigation=navigation,
            launching=self._launching,
        )

    def watch_plan(self, on_planned: Callable[[], None]) -> None:
        """Call ``on_planned`` whenever ``next_due`` becomes an earlier moment."""
        self._timeline.on_planned = on_planned

    def lock_with(self, is_locked: Callable[[], bool]) -> None:
        """Show the lock screen, and nothing else, whenever ``is_locked`` returns true."""
        self._state.foreground.is_locked = is_locked

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
    typing = _Part[WidgetActions]()
    """Typing into the focused field."""
    apps = _Part[InstalledApps]()
    """Installing and removing apps."""
    launching = _Part[Launching]()
    """Starting apps and moving between them."""
    keys = _Part[Launching]()
    """The same, for the keys back, home and recent apps."""
    links = _Part[Links]()
    """Opening deep links."""
    processes = _Part[AppProcesses]()
    """Which apps run, and killing them."""
    permissions = _Part[Permissions]()
    """The runtime permissions that apps have."""
