"""The user interface of one simulated phone: its parts, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_clawperator.simulator.screen.actions.app_processes import AppProcesses
from pytest_clawperator.simulator.screen.actions.installed_apps import InstalledApps
from pytest_clawperator.simulator.screen.actions.launching import Launching
from pytest_clawperator.simulator.screen.actions.links import Links
from pytest_clawperator.simulator.screen.actions.phone_actions import PhoneActions
from pytest_clawperator.simulator.screen.state.kept_screen import bring_back_screen, kept_screen
from pytest_clawperator.simulator.screen.state.permissions import Permissions
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.state.web import Fetch, no_network
from pytest_clawperator.simulator.screen.user_input.navigation_keys import NavigationKeys
from pytest_clawperator.simulator.screen.user_input.node_actions import NodeActions
from pytest_clawperator.simulator.screen.user_input.text_entry import TextEntry
from pytest_clawperator.simulator.screen.user_input.touch import Touch
from pytest_clawperator.simulator.screen.user_input.widget_actions import WidgetActions
from pytest_clawperator.simulator.screen.windows.view import View


class PhoneUi:
    """The screen of one phone, its apps, and what can be done to them.

    Time passes when somebody takes one of the parts to look or to act, or calls ``catch_up``,
    which the phone does whenever something is due. Then what is due by the clock is done first,
    in order, each thing at its own time. So take a part anew for each use, as in
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
        self._actions = actions = PhoneActions(state)
        self._view = View(state)
        widgets = WidgetActions(state, actions.runner)
        self._typing = TextEntry(state, view=self._view, widgets=widgets)
        self._nodes = NodeActions(
            changes=state.changes, view=self._view, widgets=widgets, typing=self._typing
        )
        self._touch = Touch(
            state,
            view=self._view,
            nodes=self._nodes,
            widgets=widgets,
            navigation=actions.navigation,
            launching=actions.launching,
        )
        self._keys = NavigationKeys(
            state.foreground, navigation=actions.navigation, launching=actions.launching
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

    def kept(self) -> dict[str, Any]:
        """Return what shows and what apps remember, in a form that can be stored."""
        self._timeline.advance()
        return kept_screen(self._state)

    def bring_back(self, kept: Mapping[str, Any], *, running: bool) -> None:
        """Show what was kept; without ``running`` only what apps had saved is there again."""
        self._timeline.advance()
        bring_back_screen(self._state, kept, running=running)

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
        return self._actions.apps

    @property
    def launching(self) -> Launching:
        """Starting apps and moving between them."""
        self._timeline.advance()
        return self._actions.launching

    @property
    def links(self) -> Links:
        """Opening deep links."""
        self._timeline.advance()
        return self._actions.links

    @property
    def processes(self) -> AppProcesses:
        """Which apps run, and killing them."""
        self._timeline.advance()
        return self._actions.processes

    @property
    def permissions(self) -> Permissions:
        """The runtime permissions that apps have."""
        self._timeline.advance()
        return self._permissions
