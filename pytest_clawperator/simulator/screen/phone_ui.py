"""The screen of a simulated phone: what it shows, and what touching it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_clawperator.simulator.screen.accessibility.events import texts_of
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode, Window
from pytest_clawperator.simulator.screen.actions import links as prompts
from pytest_clawperator.simulator.screen.actions.verbs import Actor
from pytest_clawperator.simulator.screen.app_files.app_schema import App
from pytest_clawperator.simulator.screen.state import system_pages
from pytest_clawperator.simulator.screen.state.foreground import Stage
from pytest_clawperator.simulator.screen.state.page import Page, Target
from pytest_clawperator.simulator.screen.user_input import gestures
from pytest_clawperator.simulator.screen.windows.keyboard_window import pressed_key
from pytest_clawperator.simulator.screen.windows.metrics import default_density
from pytest_clawperator.simulator.screen.windows.scene import Composer, Scene


class Ui:
    """The apps, windows and state of one phone's screen.

    Nothing happens by itself: time passes when somebody looks or acts. Then what was due by
    the clock is done first, in order, each at its own time.

    Gestures tell whether they met the screen, whatever was there. Actions on nodes tell
    whether the node is still there, enabled, and takes the action.
    """

    def __init__(
        self,
        apps: Sequence[App],
        *,
        size: tuple[int, int] = (1080, 2400),
        density: int | None = None,
        clock: Callable[[], float],
        on_event: Callable[[str], None] = lambda text: None,
        on_crash: Callable[[str, str], None] = lambda package, message: None,
        launch_delay: float = 0.0,
    ) -> None:
        self._clock = clock
        self._natural_size = size
        self._density = density if density is not None else default_density(size)
        self._rotation = 0
        self._dark = False
        self._stage = Stage(now=clock())
        self._stage.launch_delay = launch_delay
        self._actor = Actor(self._stage)
        self._composer = Composer(self._stage)
        self.on_event = on_event
        self.on_crash = on_crash
        for app in apps:
            self._stage.install(app)

    # -- What it is ------------------------------------------------------------------------

    @property
    def on_event(self) -> Callable[[str], None]:
        """Who is told each accessibility event; it gets an ``AccessibilityEvent``, a text."""
        return self._stage.on_event

    @on_event.setter
    def on_event(self, listener: Callable[[str], None]) -> None:
        self._stage.on_event = listener

    @property
    def on_crash(self) -> Callable[[str, str], None]:
        """Who is told the package and the message when an app crashes."""
        return self._stage.on_crash

    @on_crash.setter
    def on_crash(self, listener: Callable[[str, str], None]) -> None:
        self._stage.on_crash = listener

    @property
    def launch_delay(self) -> float:
        """Seconds that going from one app to another takes, the home screen included."""
        return self._stage.launch_delay

    @launch_delay.setter
    def launch_delay(self, seconds: float) -> None:
        self._stage.launch_delay = seconds

    @property
    def size(self) -> tuple[int, int]:
        """Width and height as the screen is held now."""
        width, height = self._natural_size
        return (height, width) if self._rotation % 2 else (width, height)

    @property
    def density(self) -> int:
        """Dots per inch."""
        return self._density

    @density.setter
    def density(self, density: int) -> None:
        self._density = max(1, density)
        self._stage.changed()

    @property
    def rotation(self) -> int:
        """Quarter turns: 0 to 3."""
        return self._rotation

    @rotation.setter
    def rotation(self, rotation: int) -> None:
        if rotation % 4 != self._rotation:
            self._rotation = rotation % 4
            self._stage.changed()

    @property
    def dark(self) -> bool:
        """Whether apps are drawn dark."""
        return self._dark

    @dark.setter
    def dark(self, dark: bool) -> None:
        if dark != self._dark:
            self._dark = dark
            self._stage.changed()

    def resize(self, size: tuple[int, int]) -> None:
        """Change the size that the screen has when it is not turned."""
        self._natural_size = size
        self._stage.changed()

    @property
    def apps(self) -> dict[str, App]:
        """The installed apps by package."""
        return {package: task.app for package, task in self._stage.tasks.items()}

    @property
    def version(self) -> int:
        """A number that changes whenever what shows may have changed, by an action or by time."""
        self._advance()
        return self._stage.version

    # -- Time --------------------------------------------------------------------------------

    def _advance(self) -> None:
        stage, now = self._stage, self._clock()
        stage.schedule.run_until(now, self._set_time)
        stage.now = max(stage.now, now)
        self._composer.pass_time()

    def _set_time(self, now: float) -> None:
        self._stage.now = max(self._stage.now, now)

    def next_change(self) -> float | None:
        """Give the clock time at which something next changes by itself; None for never."""
        moments = [self._look().next_time, self._stage.schedule.next_due()]
        return min((moment for moment in moments if moment is not None), default=None)

    # -- Looking -------------------------------------------------------------------------------

    def _look(self) -> Scene:
        self._advance()
        return self._composer.scene(size=self.size, density=self._density)

    def windows(self) -> list[Window]:
        """List the windows from the bottom up; unchanged ones are the same objects as before."""
        return list(self._look().windows)

    def active_root(self) -> UiNode | None:
        """Give the root of the window that has the user's attention; never the keyboard's."""
        window = self._look().active
        return window.root if window is not None else None

    def _active_page(self) -> Page:
        self._advance()
        return self._stage.shown()[-1]

    def foreground_package(self) -> str:
        """Name the package of the active window."""
        return self._active_page().package

    def foreground_activity(self) -> str:
        """Give the class name of the activity of the active window."""
        return self._active_page().activity

    def title(self) -> str | None:
        """Give the title of the page that has the user's attention."""
        return self._active_page().title

    @property
    def keyboard_shown(self) -> bool:
        """Whether the on-screen keyboard is up."""
        self._advance()
        return self._stage.keyboard_is_up()

    @property
    def focused(self) -> UiNode | None:
        """The node that has the focus, if any."""
        root = self.active_root()
        return None if root is None else next((n for n in root.walk() if n.focused), None)

    # -- Apps ------------------------------------------------------------------------------------

    def install(self, app: App) -> None:
        """Install an app, or another version of it, which keeps its saved data."""
        self._advance()
        self._stage.install(app)

    def uninstall(self, package: str) -> bool:
        """Remove an app; False where it was not there."""
        self._advance()
        return self._stage.uninstall(package)

    def start_app(self, package: str, activity: str | None = None) -> bool:
        """Bring an app to the front, or start it; False where there is no such app or activity."""
        self._advance()
        task = self._stage.tasks.get(package)
        if package == system_pages.LAUNCHER:
            return self.home()
        if task is None or not _can_start(task.app, activity):
            return False
        self._stage.switch(lambda: self._stage.start(package, activity), owner=task)
        return True

    def start_intent(self, action: str) -> bool:
        """Open the screen that an app declares for an intent such as android.settings.SETTINGS."""
        self._advance()
        for task in self._stage.tasks.values():
            if action in task.app.intents:
                self._stage.switch(lambda: self._stage.start_intent(action), owner=task)
                return True
        return False

    def open_uri(self, uri: str, *, package: str | None = None) -> bool:
        """Open a link in the app that takes it, or ask which; False where none does."""
        self._advance()
        if not prompts.takers(self._stage, uri, package=package):
            return False
        self._stage.switch(lambda: prompts.open_uri(self._stage, uri, package=package), owner=self)
        return True

    def link_takers(self, uri: str, *, package: str | None = None) -> list[str]:
        """List the packages of the apps that take a link."""
        self._advance()
        return [
            task.app.package for task, _, _ in prompts.takers(self._stage, uri, package=package)
        ]

    def force_stop(self, package: str) -> None:
        """Kill an app; what it had saved stays."""
        self._advance()
        self._stage.stop(package)

    def clear_data(self, package: str) -> None:
        """Kill an app and forget its data and permissions."""
        self._advance()
        self._stage.clear(package)

    def running_packages(self) -> list[str]:
        """List the apps whose process lives, the home screen first."""
        self._advance()
        running = [name for name, task in self._stage.tasks.items() if task.running]
        return [system_pages.LAUNCHER, *running]

    def reset(self) -> None:
        """Forget all data, permissions and open apps, and show the home screen."""
        self._advance()
        self._stage.reset()

    def granted(self, package: str) -> set[str]:
        """List the runtime permissions that a package has."""
        return self._stage.permissions.granted(package)

    def grant(self, package: str, permission: str) -> None:
        """Give a package a permission."""
        self._stage.permissions.grant(package, permission)

    def revoke(self, package: str, permission: str) -> None:
        """Take a permission back, and kill the app as Android does."""
        self._advance()
        if permission in self._stage.permissions.granted(package):
            self._stage.stop(package)
        self._stage.permissions.revoke(package, permission)

    # -- Keys ------------------------------------------------------------------------------------

    def back(self) -> bool:
        """Press back."""
        self._advance()
        self._stage.back()
        return True

    def home(self) -> bool:
        """Press home."""
        self._advance()
        self._stage.switch(self._stage.go_home, owner=self)
        return True

    def recents(self) -> bool:
        """Show the recent apps."""
        self._advance()
        self._stage.switch(self._stage.show_recents, owner=self)
        return True

    def enter(self) -> None:
        """Press enter: submit the focused field, or click what else has the focus."""
        target = self._focused_target()
        if target is None or not target.enabled:
            return
        if target.widget.kind == "field":
            self._actor.submit(target)
        else:
            self._actor.activate(target)

    def type_text(self, text: str) -> None:
        """Type at the end of the focused field; without one nothing happens."""
        target = self._focused_target()
        if target is not None and target.widget.kind == "field" and target.enabled:
            self._write(target, self._actor.text(target) + text, self.focused)

    def backspace(self) -> None:
        """Delete the last character of the focused field."""
        target = self._focused_target()
        if target is not None and target.widget.kind == "field" and target.enabled:
            self._write(target, self._actor.text(target)[:-1], self.focused)

    def hide_keyboard(self) -> bool:
        """Close the keyboard; False where it was not up."""
        was_up = self.keyboard_shown
        if was_up:
            self._stage.back()
        return was_up

    def _focused_target(self) -> Target | None:
        scene = self._look()
        if self._stage.focus is None:
            return None
        page, path = self._stage.focus
        return scene.targets.get(f"{page.key}/{path}")

    # -- Actions on nodes ------------------------------------------------------------------------

    def click(self, node: UiNode) -> bool:
        """Click a node that is clickable."""
        scene = self._look()
        key = pressed_key(node.widget)
        if key is not None:
            return self._press_key(key)
        target = scene.targets.get(node.widget)
        if target is None or not node.clickable or not target.enabled:
            return False
        self._stage.emit("TYPE_VIEW_CLICKED", page=target.page, source=node, texts=texts_of(node))
        self._actor.activate(target)
        return True

    def long_click(self, node: UiNode) -> bool:
        """Long-press a node that is long-clickable."""
        target = self._look().targets.get(node.widget)
        if target is None or not node.long_clickable or not target.enabled:
            return False
        self._stage.emit(
            "TYPE_VIEW_LONG_CLICKED", page=target.page, source=node, texts=texts_of(node)
        )
        self._actor.hold(target)
        return True

    def focus(self, node: UiNode) -> bool:
        """Give a node the focus; this alone does not bring the keyboard up."""
        target = self._look().targets.get(node.widget)
        if target is None or not node.focusable or not target.enabled:
            return False
        self._stage.emit("TYPE_VIEW_FOCUSED", page=target.page, source=node, texts=texts_of(node))
        self._actor.focus(target)
        return True

    def set_text(self, node: UiNode, text: str) -> bool:
        """Replace what a field holds."""
        target = self._look().targets.get(node.widget)
        if target is None or not node.editable or not target.enabled:
            return False
        self._write(target, text, node)
        return True

    def _write(self, target: Target, text: str, node: UiNode | None) -> None:
        shown = "•" * len(text) if target.widget.password else text
        self._actor.write(target, text)
        self._stage.emit(
            "TYPE_VIEW_TEXT_CHANGED", page=target.page, source=node, texts=[shown] if shown else []
        )

    def _press_key(self, key: str) -> bool:
        if not self._stage.keyboard_is_up():
            return False
        typed = self._stage.keyboard.press(key)
        self._stage.changed(content=False)
        if typed == "enter":
            self.enter()
        elif typed == "delete":
            self.backspace()
        elif typed is not None:
            self.type_text(typed)
        return True

    # -- Gestures ----------------------------------------------------------------------------------

    def tap(self, x: int, y: int) -> bool:
        """Tap a point."""
        if not self._is_on_screen(x, y):
            return False
        window = self._window_at(x, y)
        if window is None:
            self._tap_outside()
            return True
        node = gestures.node_at(window.root, x, y, lambda node: node.clickable)
        if node is not None:
            self.click(node)
        return True

    def long_press(self, x: int, y: int) -> bool:
        """Press a point for long; what takes no long press takes it as a click."""
        if not self._is_on_screen(x, y):
            return False
        window = self._window_at(x, y)
        if window is None:
            return True
        node = gestures.node_at(
            window.root, x, y, lambda node: node.clickable or node.long_clickable
        )
        if node is not None and not self.long_click(node):
            self.click(node)
        return True

    def swipe(
        self, start: tuple[int, int], end: tuple[int, int], *, duration_ms: int = 250
    ) -> bool:
        """Draw a finger over the screen; a list runs on after a fast one."""
        if not self._is_on_screen(*start):
            return False
        drag = gestures.Drag(start, end, duration_ms=duration_ms, density=self._density)
        if drag.is_press:
            return self.long_press(*start) if drag.is_long else self.tap(*start)
        window = self._window_at(*start)
        if window is not None and not self._scroll(window, drag):
            self._throw_out(window, drag)
        return True

    def _scroll(self, window: Window, drag: gestures.Drag) -> bool:
        scrollers = self._look().scrollers

        def can_move(node: UiNode) -> bool:
            scroller = scrollers.get(node.widget)
            return scroller is not None and scroller.can_move(drag)

        node = gestures.node_at(window.root, *drag.start, can_move)
        if node is None:
            return False
        scroller = scrollers[node.widget]
        target, offset = scroller.target, scroller.after(drag)
        target.page.scroll[target.path] = offset
        self._stage.changed(content=False)
        place = (
            (offset, 0, scroller.limit, 0) if drag.horizontal else (0, offset, 0, scroller.limit)
        )
        self._stage.emit("TYPE_VIEW_SCROLLED", page=target.page, source=node, scroll=place)
        self._actor.scrolled(target, at_end=offset == scroller.limit)
        return True

    def _throw_out(self, window: Window, drag: gestures.Drag) -> None:
        """Close a recent app: a swipe upwards on its card."""
        if not self._stage.recents_shown or drag.horizontal or drag.distance < 0:
            return
        node = gestures.node_at(window.root, *drag.start, lambda node: node.clickable)
        target = self._look().targets.get(node.widget) if node is not None else None
        if target is not None and target.widget.kind == "card" and target.widget.value is not None:
            self._stage.dismiss_task(target.widget.value.render(target.lookup))

    def _is_on_screen(self, x: int, y: int) -> bool:
        width, height = self.size
        return 0 <= x < width and 0 <= y < height

    def _window_at(self, x: int, y: int) -> Window | None:
        """Give the window that a touch goes to; None beside a dialog, which lets none through."""
        scene = self._look()
        for window in reversed(scene.windows):
            if window.type == "input_method" and window.root.bounds.contains(x, y):
                return window
        active = scene.active
        if active is not None and active.root.bounds.contains(x, y):
            return active
        return None

    def _tap_outside(self) -> None:
        task = self._stage.task_in_front()
        page = self._stage.shown()[-1]
        if task is not None and page in (task.page.dialogs if task.page is not None else ()):
            self._stage.cancel_dialog(task, page)


def _can_start(app: App, activity: str | None) -> bool:
    return app.launcher if activity is None else app.full_activity(activity) in app.activities
