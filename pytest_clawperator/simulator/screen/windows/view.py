"""Looking at the screen: its windows, the active one, and what is in front."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode, Window
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState, Toast
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.scene import Scene, compose
from pytest_clawperator.simulator.screen.windows.system_windows import gesture_bar_root


class View:
    """What shows now; a scene that has not changed is not built again."""

    def __init__(self, state: PhoneState) -> None:
        self._state = state
        self._scene = Scene()
        self._version = self._announced = -1
        self.dumps_all_windows = False

    @property
    def version(self) -> int:
        """A number that changes whenever what shows may have changed, by an action or by time."""
        return self._state.changes.version

    @property
    def toast(self) -> Toast | None:
        """The toast that is up."""
        return self._state.toast

    def scene(self) -> Scene:
        """Return everything that shows."""
        changes = self._state.changes
        if self._version != changes.version:
            self._version = changes.version
            self._scene = compose(self._state)
            self._expect(self._scene.next_time)
            if self._announced != changes.revision:
                # Once a look, as Android tells it at most every 100 ms.
                self._announced = changes.revision
                page = self._state.foreground.active_page()
                changes.emit("TYPE_WINDOW_CONTENT_CHANGED", page=page)
        return self._scene

    def _expect(self, next_time: float | None) -> None:
        """Plan to note the change when a widget next appears or disappears by itself."""
        timeline = self._state.timeline
        timeline.cancel(self)
        if next_time is not None:
            timeline.at(next_time, self._state.changes.note, owner=self)

    def windows(self) -> list[Window]:
        """List the windows from the bottom up; unchanged ones are the same objects as before."""
        return list(self.scene().windows)

    def active_root(self) -> UiNode | None:
        """Return the root of the window that has the user's attention; never the keyboard's."""
        window = self.scene().active
        return window.root if window is not None else None

    def roots(self) -> list[UiNode]:
        """List what a dump shows: the active window, or all of them, the topmost first."""
        root = self.active_root()
        if root is None:
            return []
        if not self.dumps_all_windows:
            return [root]
        display = self._state.display
        bar = gesture_bar_root(Metrics(display.density), display.size)
        return [*(window.root for window in reversed(self.scene().windows)), bar]

    def focused_node(self) -> UiNode | None:
        """Return the node that has the focus, if any."""
        root = self.active_root()
        return None if root is None else next((n for n in root.walk() if n.focused), None)

    @property
    def keyboard_shown(self) -> bool:
        """Whether the on-screen keyboard is up."""
        return self._state.foreground.keyboard_is_up()

    def foreground_package(self) -> str:
        """Return the package of the active window."""
        return self._state.foreground.active_page().package

    def foreground_activity(self) -> str:
        """Return the class name of the activity of the active window."""
        return self._state.foreground.active_page().activity

    def title(self) -> str | None:
        """Return the title of the page that has the user's attention."""
        return self._state.foreground.active_page().title
