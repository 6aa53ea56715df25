"""What is in front: which app, and the pages of the screen from the bottom up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.screen.state.changes import Changes
from pytest_clawperator.simulator.screen.state.input_focus import InputFocus
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.system_pages import LAUNCHER, launcher_page
from pytest_clawperator.simulator.screen.state.task import Task
from pytest_clawperator.simulator.screen.state.timeline import Timeline


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
        """Whether the keyboard shows: while a widget of the active page has the focus."""
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

    def order(self) -> tuple[list[str], list[str]]:
        """Return which app lies over which, the last in front, and which was used last."""
        return list(self._order), list(self._used)

    def bring_back(self, order: list[str], used: list[str]) -> None:
        """Put the apps into an order that they had; those that are not open are left out."""
        known = {LAUNCHER, *(name for name, task in self._tasks.items() if task.stack)}
        self._order = [name for name in order if name in known] or [LAUNCHER]
        self._used = [name for name in used if name in known] or [LAUNCHER]
        self._base_appeared()

    def switch_app(self, act: Callable[[], object], *, owner: object) -> None:
        """Change the app in front by ``act``, after ``launch_delay`` seconds."""
        if self.launch_delay <= 0:
            act()
        else:
            self._timeline.after(self.launch_delay, act, owner=owner)
