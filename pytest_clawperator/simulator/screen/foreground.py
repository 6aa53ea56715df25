"""What is in front: the order of the apps, the pages that show, focus and keyboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.display import Changes, Timeline
from pytest_clawperator.simulator.screen.system_pages import LAUNCHER, launcher_page, lock_page
from pytest_clawperator.simulator.screen.tasks import Page, Task

SHIFT, DELETE, SYMBOLS, SPACE, ENTER = "shift", "delete", "symbols", "space", "enter"


@dataclass
class Keyboard:
    """Whether the keyboard is up, and which keys it has; it does not know where text goes."""

    shown: bool = False
    shifted: bool = False
    symbols: bool = False

    def show(self) -> None:
        """Come up with plain letters."""
        self.shown, self.shifted, self.symbols = True, False, False

    def hide(self) -> bool:
        """Go away; return whether it was up."""
        was_shown, self.shown = self.shown, False
        return was_shown

    def press(self, key: str) -> str | None:
        """Press a key; return the text it types, ``DELETE``, ``ENTER``, or None for neither."""
        if key == SHIFT:
            self.shifted = not self.shifted
        elif key == SYMBOLS:
            self.symbols = not self.symbols
        elif key in (DELETE, ENTER):
            return key
        elif key == SPACE:
            return " "
        else:
            text = key.upper() if self.shifted else key
            self.shifted = False
            return text
        return None


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
        """Return the path of the focused widget on a page; None if the page has none."""
        return self._path if self._page is page else None

    @property
    def widget(self) -> str | None:
        """The focused widget, as nodes name it."""
        return None if self._page is None else self._page.widget_name(self._path)


class Foreground:
    """The order of the open apps, and the pages of Android that lie over them."""

    def __init__(self, tasks: Mapping[str, Task], *, timeline: Timeline, changes: Changes) -> None:
        self.launch_delay = 0.0
        self.focus = InputFocus(changes)
        self.home_page = launcher_page((), now=timeline.now, choose=lambda package: None)
        self.recents_page: Page | None = None
        # What Android asks above all apps.
        self.chooser: Page | None = None
        self.alerts: list[Page] = []
        self.is_locked: Callable[[], bool] = lambda: False
        self._lock_page = lock_page(now=timeline.now)
        self._tasks = tasks
        self._timeline = timeline
        self._changes = changes
        # Which app lies over which, the last in front; and which was used last. They differ
        # once back has put an app behind all others.
        self._order = [LAUNCHER]
        self._used = [LAUNCHER]

    # -- What shows ------------------------------------------------------------------------

    def task(self) -> Task | None:
        """Return the app in front; None for the home screen and the recent apps."""
        return None if self.recents_page is not None else self._tasks.get(self._order[-1])

    def pages(self) -> list[Page]:
        """List the pages that show, from the bottom up; the last is the active one."""
        if self.is_locked():
            return [self._lock_page]
        task = self.task()
        base = self._base_page(task)
        prompt = [task.prompt] if task is not None and task.prompt is not None else []
        chooser = [self.chooser] if self.chooser is not None else []
        return [base, *base.dialogs, *prompt, *chooser, *self.alerts]

    def _base_page(self, task: Task | None) -> Page:
        if task is not None and task.page is not None:
            return task.page
        return self.recents_page or self.home_page

    def active_page(self) -> Page:
        """Return the page that has the user's attention."""
        return self.pages()[-1]

    def keyboard_is_up(self) -> bool:
        """Return whether the keyboard shows: while a widget of the active page has the focus."""
        focus = self.focus
        return focus.keyboard.shown and focus.path_on(self.active_page()) is not None

    def recent_packages(self) -> list[str]:
        """List the apps that were used, the latest first."""
        return [package for package in reversed(self._used) if package in self._tasks]

    # -- What comes to the front -------------------------------------------------------------

    def page_appeared(self, page: Page) -> None:
        """Note that a page came to the front."""
        self.focus.clear()
        self._changes.note()
        task = self._tasks.get(page.package)
        title = page.title or (task.app.name if task is not None else "")
        self._changes.emit("TYPE_WINDOW_STATE_CHANGED", page=page, texts=[title] if title else [])

    def page_opened(self, task: Task, page: Page) -> None:
        """Note that a page of an app opened; it shows only while the app is in front."""
        if self.task() is task:
            self.page_appeared(page)
        else:
            self._changes.note()

    def page_closed(self) -> None:
        """Note that the uppermost page went away, so that the one below it is active."""
        self.page_appeared(self.active_page())

    def bring_to_front(self, package: str) -> None:
        """Bring an app to the front; recent apps and chooser go away."""
        self.recents_page = self.chooser = None
        for packages in (self._order, self._used):
            if package in packages:
                packages.remove(package)
            packages.append(package)
        self.page_closed()

    def send_behind(self, package: str) -> None:
        """Put an app behind all others; it keeps its screens."""
        if package in self._order:
            self._order.remove(package)
            self._order.insert(0, package)
        self._base_appeared()

    def remove(self, package: str) -> None:
        """Take an app that has no more screens out of the order."""
        if package not in self._order:
            return
        was_in_front = self._order[-1] == package
        self._order.remove(package)
        self._used.remove(package)
        if was_in_front:
            self._base_appeared()
        else:
            self._changes.note()

    def close_recents(self) -> None:
        """Go back from the recent apps to what was in front before."""
        self.recents_page = None
        self._base_appeared()

    def _base_appeared(self) -> None:
        self.page_appeared(self._base_page(self.task()))

    def switch_app(self, act: Callable[[], object], *, owner: object) -> None:
        """Change the app in front by ``act``, after ``launch_delay`` seconds."""
        if self.launch_delay <= 0:
            act()
        else:
            self._timeline.after(self.launch_delay, act, owner=owner)
