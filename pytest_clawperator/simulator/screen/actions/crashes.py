"""Apps that crash, and the dialog with which Android says so."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.actions.app_processes import AppProcesses
from pytest_clawperator.simulator.screen.actions.launching import Launching
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.state.system_pages import crash_page
from pytest_clawperator.simulator.screen.state.task import Task

_APP_INFO = "android.settings.APPLICATION_DETAILS_SETTINGS"


class Crashes:
    """Kills apps as an exception does."""

    def __init__(self, state: PhoneState, *, processes: AppProcesses, launching: Launching) -> None:
        self._state = state
        self._processes = processes
        self._launching = launching

    def crash(self, task: Task, message: str) -> None:
        """Kill an app and show that it has stopped."""
        foreground = self._state.foreground
        self._processes.force_stop(task.app.package)

        def choose(choice: str) -> None:
            if page in foreground.alerts:
                foreground.alerts.remove(page)
            foreground.page_closed()
            if choice == "info":
                self._launching.open_intent(_APP_INFO)

        page = crash_page(task.app, now=self._state.timeline.now, choose=choose)
        foreground.alerts.append(page)
        self._state.changes.on_crash(task.app.package, message)
        foreground.page_appeared(page)
