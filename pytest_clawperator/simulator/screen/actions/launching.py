"""Moving between apps: starting them, the home screen, and the recent apps."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.actions.app_processes import AppProcesses
from pytest_clawperator.simulator.screen.actions.navigation import Navigation
from pytest_clawperator.simulator.screen.app_files.app_schema import App
from pytest_clawperator.simulator.screen.state import system_pages
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.state.system_pages import LAUNCHER
from pytest_clawperator.simulator.screen.state.task import Task


class Launching:
    """Brings apps to the front; each change of app takes ``delay`` seconds."""

    def __init__(
        self, state: PhoneState, *, navigation: Navigation, processes: AppProcesses
    ) -> None:
        self._tasks = state.tasks
        self._timeline = state.timeline
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
        """Bring an app to the front, or start it; False where there is no such app or activity."""
        if package == LAUNCHER:
            return self.home()
        task = self._tasks.get(package)
        screen = None if task is None else _first_screen(task.app, activity)
        if task is None or screen is None:
            return False
        must_open = activity is not None and screen != task.app.start
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
        self._foreground.switch_app(lambda: self.open_intent(action), owner=task)
        return True

    def open_intent(self, action: str) -> None:
        """Open the screen for an intent at once; nothing happens where no app declares one."""
        task = self._task_for(action)
        if task is not None:
            self._navigation.open_screen(task, task.app.intents[action], {})

    def _task_for(self, action: str) -> Task | None:
        return next((task for task in self._tasks.values() if action in task.app.intents), None)

    # -- Home screen and recent apps -----------------------------------------------------------

    def home(self) -> bool:
        """Show the home screen."""
        self._foreground.switch_app(self._show_home, owner=self)
        return True

    def _show_home(self) -> None:
        self._foreground.bring_to_front(LAUNCHER)

    def renew_home_page(self) -> None:
        """Build the home screen anew for the apps that are installed now."""
        apps = [task.app for task in self._tasks.values()]
        self._foreground.home_page = system_pages.launcher_page(
            apps, now=self._timeline.now, choose=self._choose_app
        )

    def _choose_app(self, package: str) -> None:
        self.start_app(package)

    def recents(self) -> bool:
        """Show the recent apps; where they show already, go back to the latest."""
        self._toggle_recents()  # at once: no app has to start for it
        return True

    def _toggle_recents(self) -> None:
        packages = self._foreground.recent_packages()
        if self._foreground.recents_page is not None:
            self._foreground.bring_to_front(packages[0] if packages else LAUNCHER)
            return
        apps = [self._tasks[package].app for package in packages]
        page = system_pages.recents_page(apps, now=self._timeline.now, choose=self._choose_recent)
        self._foreground.chooser = None
        self._foreground.recents_page = page
        self._foreground.page_appeared(page)

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
            self._toggle_recents()


def _first_screen(app: App, activity: str | None) -> str | None:
    """Return the screen that an activity shows, or that the app's icon opens."""
    if activity is None:
        return app.start if app.launcher else None
    return app.activities.get(app.full_activity(activity))
