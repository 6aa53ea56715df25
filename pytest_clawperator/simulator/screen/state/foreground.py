"""What happens on a phone: which apps are open, what lies over them, what is due when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytest_clawperator.simulator.screen.accessibility.events import AccessibilityEvent, EventType
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode
from pytest_clawperator.simulator.screen.app_files.app_schema import Action, App
from pytest_clawperator.simulator.screen.app_files.expressions import Lookup, Value
from pytest_clawperator.simulator.screen.state import system_pages
from pytest_clawperator.simulator.screen.state.app_state import AppState
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.permissions import Permissions
from pytest_clawperator.simulator.screen.state.system_pages import LAUNCHER
from pytest_clawperator.simulator.screen.state.task import Task
from pytest_clawperator.simulator.screen.state.timeline import Schedule
from pytest_clawperator.simulator.screen.windows.keyboard_window import Keyboard

SNACKBAR_SECONDS = 2.75
TOAST_SECONDS = 3.5
_SYSTEM_UI = "com.android.systemui"

Run = Callable[[Task, Page, Lookup, Sequence[Action]], None]


class Stage:
    """The state behind the screen, and every change that can happen to it."""

    def __init__(self, *, now: float) -> None:
        self.now = now
        self.launch_delay = 0.0
        self.version = 0
        self.revision = 0
        self.on_event: Callable[[str], None] = lambda text: None
        self.on_crash: Callable[[str, str], None] = lambda package, message: None
        # Runs an app's actions; set by whoever knows how, since actions change the stage.
        self.run: Run = lambda task, page, lookup, actions: None
        self.tasks: dict[str, Task] = {}
        self.permissions = Permissions()
        self.keyboard = Keyboard()
        self.schedule = Schedule()
        self.focus: tuple[Page, str] | None = None
        self.toast: str | None = None
        # Which app lies over which, the last in front; and which was used last. They differ
        # once back has put an app behind all others.
        self._order = [LAUNCHER]
        self._used = [LAUNCHER]
        self._recents: Page | None = None
        # What Android asks above all apps, and which app it need not ask about, by scheme.
        self.chooser: Page | None = None
        self.alerts: list[Page] = []
        self.preferred: dict[str, str] = {}
        self._launcher = self._new_launcher()

    # -- What shows ------------------------------------------------------------------------

    def task_in_front(self) -> Task | None:
        """Give the app in front; None for the home screen and the recent apps."""
        return None if self._recents is not None else self.tasks.get(self._order[-1])

    def base(self) -> Page:
        """Give the page that fills the screen."""
        task = self.task_in_front()
        if task is not None and task.page is not None:
            return task.page
        return self._recents or self._launcher

    def shown(self) -> list[Page]:
        """List the pages that show, from the bottom up; the last is the active one."""
        base = self.base()
        task = self.task_in_front()
        prompt = [task.prompt] if task is not None and task.prompt is not None else []
        chooser = [self.chooser] if self.chooser is not None else []
        return [base, *base.dialogs, *prompt, *chooser, *self.alerts]

    def keyboard_is_up(self) -> bool:
        """Tell whether the keyboard shows: while a field of the active page has the focus."""
        return self.keyboard.shown and self.focus is not None and self.focus[0] is self.shown()[-1]

    def changed(self, *, content: bool = True) -> None:
        """Note that something may look different; a mere scroll leaves the content as it was."""
        self.version += 1
        self.revision += content

    def emit(
        self,
        type: EventType,
        *,
        page: Page | None = None,
        source: UiNode | None = None,
        package: str = _SYSTEM_UI,
        texts: Sequence[str] = (),
        scroll: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        """Tell the accessibility service what happened, about a page or one of its nodes."""
        if page is not None:
            package = page.package
        class_name = page.activity if page is not None else "android.widget.Toast$TN"
        self.on_event(
            AccessibilityEvent(
                type,
                time=self.now,
                package=package,
                class_name=source.cls if source is not None else class_name,
                texts=texts,
                content_desc=source.content_desc if source is not None else "",
                source=source,
                scroll=scroll,
            )
        )

    def appeared(self, page: Page) -> None:
        """Note that a page came to the front."""
        self.focus = None
        self.keyboard.hide()
        self.changed()
        task = self.tasks.get(page.package)
        title = page.title or (task.app.name if task is not None else "")
        self.emit("TYPE_WINDOW_STATE_CHANGED", page=page, texts=[title] if title else [])

    # -- Installed apps ----------------------------------------------------------------------

    def install(self, app: App) -> None:
        """Install an app, or another version of it; then its data stays where it still fits."""
        before = self.tasks.get(app.package)
        task = Task(app, AppState(app))
        if before is not None:
            self.stop(app.package)
            task.state.adopt(before.state)
        self.tasks[app.package] = task
        self._launcher = self._new_launcher()
        self.changed()

    def uninstall(self, package: str) -> bool:
        """Remove an app; tell whether it was there."""
        if package not in self.tasks:
            return False
        self.stop(package)
        self.permissions.clear(package)
        del self.tasks[package]
        self._launcher = self._new_launcher()
        self.changed()
        return True

    def stop(self, package: str) -> None:
        """Kill an app as `am force-stop` does."""
        task = self.tasks.get(package)
        if task is None:
            return
        for page in task.stack:
            self.schedule.cancel(page)
        self.schedule.cancel(task)
        task.kill()
        self._leave(package)

    def clear(self, package: str) -> None:
        """Kill an app and forget its data and permissions."""
        self.stop(package)
        task = self.tasks.get(package)
        if task is not None:
            task.state.clear()
            self.permissions.clear(package)

    def _leave(self, package: str) -> None:
        if package not in self._order:
            return
        was_in_front = self._order[-1] == package
        self._order.remove(package)
        self._used.remove(package)
        if was_in_front:
            self.appeared(self.base())
        else:
            self.changed()

    def _choose_app(self, package: str) -> None:
        self.switch(lambda: self.start(package), owner=self.tasks.get(package))

    def _new_launcher(self) -> Page:
        apps = [task.app for task in self.tasks.values()]
        return system_pages.launcher_page(apps, now=self.now, choose=self._choose_app)

    def reset(self) -> None:
        """Forget all data, everything that is open, and everything that is planned."""
        for package in self.tasks:
            self.clear(package)
        self.schedule = Schedule()
        self.alerts.clear()
        self.preferred.clear()
        self.toast = None
        self._launcher = self._new_launcher()
        self.go_home()

    # -- Moving between apps -----------------------------------------------------------------

    def switch(self, act: Callable[[], object], *, owner: object) -> None:
        """Go from one app to another, which takes a moment; till then the first is in front."""
        if self.launch_delay <= 0:
            act()
        else:
            self.schedule.add(self.now + self.launch_delay, act, owner=owner)

    def bring(self, package: str) -> None:
        """Bring an app to the front; whatever lay over the screen goes."""
        self._recents = self.chooser = None
        for packages in (self._order, self._used):
            if package in packages:
                packages.remove(package)
            packages.append(package)
        self.appeared(self.shown()[-1])

    def start(self, package: str, activity: str | None = None) -> bool:
        """Start an app at an activity, or as its icon does; False where there is no such."""
        task = self.tasks.get(package)
        if task is None:
            return False
        app = task.app
        if activity is None:
            screen = app.start
            if not app.launcher:
                return False
        else:
            found = app.activities.get(app.full_activity(activity))
            if found is None:
                return False
            screen = found
        if task.page is None or (activity is not None and screen != app.start):
            self.open(task, screen, {})
        else:
            self.bring(package)
        return True

    def open(self, task: Task, screen: str, values: Mapping[str, Value]) -> None:
        """Open a screen of an app on top of its stack, and bring the app to the front."""
        task.running = True
        page, top = task.screen(screen, values, now=self.now), task.page
        if top is not None and (top.name, top.args) == (page.name, page.args):
            self.bring(task.app.package)
            return
        self._push(task, page)
        self.bring(task.app.package)
        self._opened(task, page)

    def go_home(self) -> None:
        """Show the home screen."""
        self.bring(LAUNCHER)

    def show_recents(self) -> None:
        """Show the recent apps; where they show already, go back to the latest."""
        packages = [package for package in reversed(self._used) if package in self.tasks]
        if self._recents is not None:
            self.bring(packages[0] if packages else LAUNCHER)
            return
        apps = [self.tasks[package].app for package in packages]
        self.chooser = None
        self._recents = system_pages.recents_page(apps, now=self.now, choose=self._choose_recent)
        self.appeared(self._recents)

    def _choose_recent(self, choice: str) -> None:
        if choice != system_pages.CLEAR_ALL:
            self._choose_app(choice)
            return
        for package in [package for package in self._order if package in self.tasks]:
            self.dismiss_task(package)
        self.go_home()

    def dismiss_task(self, package: str) -> None:
        """Close an app as a swipe among the recent apps does."""
        self.stop(package)
        if self._recents is not None:
            self._recents = None
            self.show_recents()

    @property
    def recents_shown(self) -> bool:
        """Tell whether the recent apps show."""
        return self._recents is not None

    def start_intent(self, action: str) -> bool:
        """Open the screen that an app declares for an intent; False where none does."""
        for task in self.tasks.values():
            if action in task.app.intents:
                self.open(task, task.app.intents[action], {})
                return True
        return False

    # -- Within an app -------------------------------------------------------------------------

    def navigate(self, task: Task, screen: str, values: Mapping[str, Value], *, how: str) -> None:
        """Go to a screen: ``navigate`` on top, ``replace`` instead, ``root`` as the only one."""
        if how == "replace" and task.stack:
            self._drop(task.stack.pop())
        elif how == "root":
            while task.stack:
                self._drop(task.stack.pop())
        page = task.screen(screen, values, now=self.now)
        self._push(task, page)
        self.show_if_in_front(task, page)
        self._opened(task, page)

    def _push(self, task: Task, page: Page) -> None:
        fallen = task.push(page)
        if fallen is not None:
            self._drop(fallen)

    def _drop(self, page: Page) -> None:
        self.schedule.cancel(page)

    def show_if_in_front(self, task: Task, page: Page) -> None:
        """Note that a page of an app opened, which only shows while the app is in front."""
        if self.task_in_front() is task:
            self.appeared(page)
        else:
            self.changed()

    def _opened(self, task: Task, page: Page) -> None:
        body = task.app.screens[page.name]
        self.run(task, page, page.lookup, body.on_open)
        for timer in body.timers if page in task.stack else ():
            self.later(task, page, page.lookup, timer.after, timer.do, condition=timer.condition)

    def later(
        self,
        task: Task,
        page: Page,
        lookup: Lookup,
        delay: float,
        actions: Sequence[Action],
        *,
        condition: Callable[[Lookup], Value] | None = None,
    ) -> None:
        """Run actions after a while, unless their page has gone by then."""

        def act() -> None:
            if condition is None or condition(lookup):
                self.run(task, page, lookup, actions)

        self.schedule.add(self.now + delay, act, owner=page)

    def pop(self, task: Task) -> None:
        """Go back one screen; from the last one out of the app, which stays alive behind."""
        if len(task.stack) > 1:
            self._drop(task.stack.pop())
            self.show_if_in_front(task, task.stack[-1])
        else:
            self.switch(lambda: self.leave(task), owner=task)

    def leave(self, task: Task) -> None:
        """Put an app behind all others; it keeps its screens."""
        package = task.app.package
        if package in self._order:
            self._order.remove(package)
            self._order.insert(0, package)
        self.appeared(self.base())

    def finish(self, task: Task) -> None:
        """Close all screens of an app, which leaves; its process goes on."""
        while task.stack:
            self._drop(task.stack.pop())
        self._leave(task.app.package)

    def show_dialog(self, task: Task, name: str, values: Mapping[str, Value]) -> None:
        """Show a dialog over the app's current screen."""
        if task.page is not None:
            dialog = task.dialog(name, values, now=self.now)
            task.page.dialogs.append(dialog)
            self.show_if_in_front(task, dialog)

    def dismiss(self, page: Page) -> None:
        """Close a dialog, or the uppermost dialog of a screen."""
        for task in self.tasks.values():
            for screen in task.stack:
                if page in screen.dialogs:
                    screen.dialogs.remove(page)
                elif page is screen and screen.dialogs:
                    screen.dialogs.pop()
        self.appeared(self.shown()[-1])

    def show_snackbar(self, page: Page, text: str) -> None:
        """Show a text at the foot of a screen for a while."""
        page.snackbar = text
        self.changed()

        def vanish() -> None:
            if page.snackbar is text:
                page.snackbar = None
            self.changed()

        self.schedule.add(self.now + SNACKBAR_SECONDS, vanish, owner=page)

    def show_toast(self, package: str, text: str) -> None:
        """Show a text over everything for a while; it is no part of any app's window."""
        self.toast = text
        self.changed()
        self.emit("TYPE_NOTIFICATION_STATE_CHANGED", package=package, texts=[text])

        def vanish() -> None:
            if self.toast is text:
                self.toast = None
            self.changed()

        self.schedule.add(self.now + TOAST_SECONDS, vanish, owner=self)

    # -- Going back ------------------------------------------------------------------------------

    def back(self) -> None:
        """Do what the back key does: close the uppermost thing that can be closed."""
        if self.keyboard_is_up():
            self.keyboard.hide()
            self.changed()
            return
        task = self.task_in_front()
        if self.alerts:
            self.alerts.pop()
            self.appeared(self.shown()[-1])
        elif self.chooser is not None:
            self.chooser = None
            self.appeared(self.shown()[-1])
        elif self._recents is not None:
            self._recents = None
            self.appeared(self.base())
        elif task is not None and task.prompt is None:
            self._back_in(task)

    def _back_in(self, task: Task) -> None:
        page = task.page
        if page is None:
            return
        if page.dialogs:
            self.cancel_dialog(task, page.dialogs[-1])
        elif on_back := getattr(page.body, "on_back", ()):
            self.run(task, page, page.lookup, on_back)
        else:
            self.pop(task)

    def cancel_dialog(self, task: Task, page: Page) -> None:
        """Close a dialog without an answer, if it lets itself be closed."""
        dialog = task.app.dialogs[page.name.removeprefix("dialog:")]
        if dialog.cancelable:
            self.dismiss(page)
            self.run(task, page, page.lookup, dialog.on_cancel)
