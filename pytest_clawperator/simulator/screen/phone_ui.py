"""The user interface of one simulated phone: its parts, put together."""

from __future__ import annotations

from collections.abc import Callable

from pytest_clawperator.simulator.screen.actions import Verbs
from pytest_clawperator.simulator.screen.foreground import Foreground
from pytest_clawperator.simulator.screen.launching import (
    AppProcesses,
    InstalledApps,
    Launching,
    Links,
)
from pytest_clawperator.simulator.screen.navigation import ActionRunner, Navigation
from pytest_clawperator.simulator.screen.phone_state import (
    Fetch,
    PhoneState,
    no_network,
)
from pytest_clawperator.simulator.screen.system_pages import Permissions
from pytest_clawperator.simulator.screen.touch import Touch
from pytest_clawperator.simulator.screen.widget_input import NodeActions, TextEntry, WidgetActions
from pytest_clawperator.simulator.screen.windows import View


class PhoneUi:
    """The screen of one phone, its apps, and what can be done to them.

    Time passes whenever one of the parts is taken, or ``catch_up`` is called, which the phone
    does whenever something is due: first everything that is due by the clock is done, in order,
    each thing at its own time. So take a part again for each use, as in ``ui.touch.tap(x, y)``;
    do not keep it.
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
        runner = ActionRunner()
        navigation = Navigation(state, runner)
        self._processes = AppProcesses(state)
        self._launching = Launching(state, navigation=navigation, processes=self._processes)
        self._links = Links(state, navigation)
        self._apps = InstalledApps(state, processes=self._processes, launching=self._launching)
        verbs = Verbs(
            state, runner, navigation=navigation, launching=self._launching, links=self._links
        )
        runner.verbs = verbs.table()
        self._view = View(state)
        widgets = WidgetActions(state, runner)
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

    @property
    def view(self) -> View:
        """What shows."""
        self._timeline.advance()
        return self._view

    @property
    def touch(self) -> Touch:
        """Taps, long presses and swipes at points."""
        self._timeline.advance()
        return self._touch

    @property
    def nodes(self) -> NodeActions:
        """Accessibility actions on single nodes."""
        self._timeline.advance()
        return self._nodes

    @property
    def typing(self) -> TextEntry:
        """Typing into the focused field."""
        self._timeline.advance()
        return self._typing

    @property
    def keys(self) -> NavigationKeys:
        """Back, home and recent apps."""
        self._timeline.advance()
        return self._keys

    @property
    def apps(self) -> InstalledApps:
        """Installing and removing apps."""
        self._timeline.advance()
        return self._apps

    @property
    def launching(self) -> Launching:
        """Starting apps and moving between them."""
        self._timeline.advance()
        return self._launching

    @property
    def links(self) -> Links:
        """Opening deep links."""
        self._timeline.advance()
        return self._links

    @property
    def processes(self) -> AppProcesses:
        """Which apps run, and killing them."""
        self._timeline.advance()
        return self._processes

    @property
    def permissions(self) -> Permissions:
        """The runtime permissions that apps have."""
        self._timeline.advance()
        return self._permissions


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
