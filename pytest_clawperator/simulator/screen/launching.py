"""Start, switch, install, kill and crash apps, and open deep links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import unquote

from pytest_clawperator.simulator.apps.schema import App, Link
from pytest_clawperator.simulator.screen import system_pages
from pytest_clawperator.simulator.screen.navigation import Navigation
from pytest_clawperator.simulator.screen.phone_state import PhoneState
from pytest_clawperator.simulator.screen.system_pages import LAUNCHER
from pytest_clawperator.simulator.screen.tasks import AppState, Page, Task, with_locals

_APP_INFO = "android.settings.APPLICATION_DETAILS_SETTINGS"


class AppProcesses:
    """Kills apps, with or without their data."""

    def __init__(self, state: PhoneState) -> None:
        self._state = state

    def running_packages(self) -> list[str]:
        """List the apps whose process lives, the home screen first."""
        running = [package for package, task in self._state.tasks.items() if task.running]
        return [LAUNCHER, *running]

    def is_in_front(self, package: str) -> bool:
        """Return whether an app is in front of all others."""
        task = self._state.foreground.task()
        return task is not None and task.app.package == package

    def force_stop(self, package: str) -> None:
        """Kill an app as `am force-stop` does; its saved data stays."""
        task = self._state.tasks.get(package)
        if task is None:
            return
        for page in task.stack:
            self._state.timeline.cancel(page)
        self._state.timeline.cancel(task)
        task.kill()
        self._state.foreground.remove(package)

    def clear_data(self, package: str) -> None:
        """Kill an app and forget its data and permissions."""
        self.force_stop(package)
        task = self._state.tasks.get(package)
        if task is not None:
            task.state.clear()
            self._state.permissions.clear(package)

    def revoke_permission(self, package: str, permission: str) -> None:
        """Take a permission away from an app and kill it, as Android does."""
        permissions = self._state.permissions
        if permission in permissions.granted(package):
            self.force_stop(package)
        permissions.revoke(package, permission)


class Launching:
    """Brings apps to the front; each change of app takes ``delay`` seconds."""

    def __init__(
        self, state: PhoneState, *, navigation: Navigation, processes: AppProcesses
    ) -> None:
        self._tasks = state.tasks
        self._timeline = state.timeline
        self._changes = state.changes
        self._foreground = state.foreground
        self._navigation = navigation
        self._processes = processes
        self.renew_home_page()

    @property
    def delay(self) -> float:
        """Seconds that going from one app to another takes, the home screen included."""
        return self._foreground.launch_delay

    @delay.setter
    def delay(self, seconds: float) -> None:
        self._foreground.launch_delay = seconds

    # -- Apps ----------------------------------------------------------------------------------

    def start_app(self, package: str, activity: str | None = None) -> bool:
        """Bring an app to the front, or start it; False if there is no such app or activity."""
        if package == LAUNCHER:
            return self.home()
        task = self._tasks.get(package)
        screen = None if task is None else _first_screen(task.app, activity)
        if task is None or screen is None:
            return False
        must_open = activity is not None and screen != task.app.start
        self._changes.on_start(package, task.app.full_activity(activity))
        self._foreground.switch_app(
            lambda: self._show(task, screen, must_open=must_open), owner=task
        )
        return True

    def _show(self, task: Task, screen: str, *, must_open: bool) -> None:
        if task.page is None or must_open:
            self._navigation.open_screen(task, screen, {})
        else:
            self._foreground.bring_to_front(task.app.package)

    def start_intent(self, action: str) -> bool:
        """Open the screen that an app declares for an intent such as android.settings.SETTINGS."""
        task = self._task_for(action)
        if task is None:
            return False
        self._changes.on_start(task.app.package, task.app.full_activity())
        self._foreground.switch_app(lambda: self.open_intent(action), owner=task)
        return True

    def open_intent(self, action: str) -> None:
        """Open the screen for an intent immediately; nothing happens if no app declares one."""
        task = self._task_for(action)
        if task is not None:
            self._navigation.open_screen(task, task.app.intents[action], {})

    def _task_for(self, action: str) -> Task | None:
        return next((task for task in self._tasks.values() if action in task.app.intents), None)

    # -- Home screen and recent apps -----------------------------------------------------------

    def back(self) -> bool:
        """Go back: close the uppermost thing that can be closed."""
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
        """Show the home screen."""
        self._foreground.switch_app(self._show_home, owner=self)
        return True

    def _show_home(self) -> None:
        self._foreground.bring_to_front(LAUNCHER)

    def renew_home_page(self) -> None:
        """Build the home screen again for the apps that are installed now."""
        apps = [task.app for task in self._tasks.values()]
        self._foreground.home_page = system_pages.launcher_page(
            apps, now=self._timeline.now, choose=self.start_app
        )

    def recents(self) -> bool:
        """Show the recent apps without delay; if they show already, go back to the latest."""
        packages = self._foreground.recent_packages()
        if self._foreground.recents_page is not None:
            self._foreground.bring_to_front(packages[0] if packages else LAUNCHER)
            return True
        apps = [self._tasks[package].app for package in packages]
        page = system_pages.recents_page(apps, now=self._timeline.now, choose=self._choose_recent)
        self._foreground.chooser = None
        self._foreground.recents_page = page
        self._foreground.page_appeared(page)
        return True

    def _choose_recent(self, choice: str) -> None:
        if choice != system_pages.CLEAR_ALL:
            self.start_app(choice)
            return
        for package in reversed(self._foreground.recent_packages()):
            self.close_recent_app(package)
        self._show_home()

    def close_recent_app(self, package: str) -> None:
        """Close an app as a swipe among the recent apps does."""
        self._processes.force_stop(package)
        if self._foreground.recents_page is not None:
            self._foreground.recents_page = None
            self.recents()

    # -- Crashes -------------------------------------------------------------------------------

    def crash(self, task: Task, message: str) -> None:
        """Kill an app as an exception does, and show that it has stopped."""
        self._changes.on_crash(task.app.package, message)
        self._processes.force_stop(task.app.package)

        def choose(choice: str) -> None:
            if choice == "info":
                self.open_intent(_APP_INFO)

        self._alert(partial(system_pages.crash_page, task.app), choose)

    def crash_app(self, package: str, message: str) -> bool:
        """Crash an app by its package; False if there is no such app."""
        task = self._tasks.get(package)
        if task is not None:
            self.crash(task, message)
        return task is not None

    def hang(self, package: str) -> None:
        """Show that an app does not respond; waiting closes the dialog."""
        task = self._tasks.get(package)

        def choose(choice: str) -> None:
            if choice == "close":
                self._processes.force_stop(package)

        if task is not None:
            self._alert(partial(system_pages.crash_page, task.app, hangs=True), choose)

    def alert(self, title: str) -> None:
        """Show a dialog of the system itself, until it is answered."""
        self._alert(partial(system_pages.alert_page, title), lambda _: None)

    def _alert(self, build: Callable[..., Page], chosen: Callable[[str], None]) -> None:
        foreground = self._foreground

        def choose(choice: str) -> None:
            if page in foreground.alerts:
                foreground.alerts.remove(page)
            foreground.page_closed()
            chosen(choice)

        page = build(now=self._timeline.now, choose=choose)
        others = [alert for alert in foreground.alerts if alert.activity != page.activity]
        foreground.alerts = [*others, page]  # there is one about each app
        foreground.page_appeared(page)


def _first_screen(app: App, activity: str | None) -> str | None:
    """Return the screen that an activity shows, or that the app's icon opens."""
    if activity is None:
        return app.start if app.launcher else None
    return app.activities.get(app.full_activity(activity))


_Handler = tuple[Task, Link, dict[str, str]]


class Links:
    """Opens links, and asks which app to use if several handle one."""

    def __init__(self, state: PhoneState, navigation: Navigation) -> None:
        self._tasks = state.tasks
        self._timeline = state.timeline
        self._foreground = state.foreground
        self._changes = state.changes
        self._navigation = navigation
        # The app that the user chose for always, by scheme.
        self._preferred: dict[str, str] = {}

    def handlers(self, uri: str, *, package: str | None = None) -> list[str]:
        """List the packages of the apps that handle a link."""
        return [task.app.package for task, _, _ in self._handlers(uri, package)]

    def open_uri(self, uri: str, *, package: str | None = None) -> bool:
        """Open a link in the app that handles it, or ask which; False if none does."""
        chosen = self._chosen(uri, package)
        if not chosen:
            return False
        if len(chosen) == 1:
            self._start(chosen[0][0])
        self._foreground.switch_app(lambda: self._open(uri, package), owner=self)
        return True

    def _handlers(self, uri: str, package: str | None) -> list[_Handler]:
        return [
            (task, link, values)
            for task in self._tasks.values()
            if package in (None, task.app.package)
            for link, values in [_link_for(task.app, uri)]
            if link is not None
        ]

    def _chosen(self, uri: str, package: str | None) -> list[_Handler]:
        handlers = self._handlers(uri, package)
        preferred = self._preferred.get(_scheme(uri))
        return [found for found in handlers if found[0].app.package == preferred] or handlers

    def _open(self, uri: str, package: str | None) -> None:
        chosen = self._chosen(uri, package)
        if len(chosen) == 1:
            self._follow(*chosen[0])
        elif chosen:
            self._ask(chosen, _scheme(uri))

    def _start(self, task: Task) -> None:
        self._changes.on_start(task.app.package, task.app.full_activity())

    def _ask(self, handlers: list[_Handler], scheme: str) -> None:
        def choose(choice: str) -> None:
            how, _, name = choice.partition(" ")
            if how == "always":
                self._preferred[scheme] = name
            self._foreground.chooser = None
            for handler in handlers:
                if handler[0].app.package == name:
                    self._start(handler[0])
                    self._follow(*handler)

        apps = [task.app for task, _, _ in handlers]
        page = system_pages.chooser_page(apps, now=self._timeline.now, choose=choose)
        self._foreground.chooser = page
        self._foreground.page_appeared(page)

    def _follow(self, task: Task, link: Link, found: Mapping[str, str]) -> None:
        lookup = with_locals(task.state.lookup, found)
        given = {name: template.value(lookup) for name, template in link.values.items()}
        self._navigation.open_screen(task, link.screen, {**found, **given})


def _scheme(uri: str) -> str:
    return uri.partition(":")[0].lower()


def _link_for(app: App, uri: str) -> tuple[Link | None, dict[str, str]]:
    for link in app.links:
        found = link.pattern.match(uri)
        if found is not None:
            return link, {name: unquote(value) for name, value in found.groupdict().items()}
    return None, {}


class InstalledApps:
    """The apps of a phone; ``package in apps`` is whether one is installed."""

    def __init__(self, state: PhoneState, *, processes: AppProcesses, launching: Launching) -> None:
        self._state = state
        self._processes = processes
        self._launching = launching

    def __contains__(self, package: object) -> bool:
        return package in self._state.tasks

    def install(self, app: App) -> None:
        """Install an app, or another version of it, which keeps the saved data that still fits."""
        before = self._state.tasks.get(app.package)
        changes, package = self._state.changes, app.package
        task = Task(app, AppState(app, lambda message: changes.on_complaint(package, message)))
        if before is not None:
            self._processes.force_stop(app.package)
            task.state.adopt(before.state)
        self._state.tasks[app.package] = task
        self._launching.renew_home_page()
        self._state.changes.note()

    def uninstall(self, package: str) -> bool:
        """Remove an app; False if it was not installed."""
        if package not in self._state.tasks:
            return False
        self._processes.force_stop(package)
        self._state.permissions.clear(package)
        del self._state.tasks[package]
        self._launching.renew_home_page()
        self._state.changes.note()
        return True
