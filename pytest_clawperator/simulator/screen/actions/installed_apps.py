"""Installing and removing apps."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.actions.app_processes import AppProcesses
from pytest_clawperator.simulator.screen.actions.launching import Launching
from pytest_clawperator.simulator.screen.app_files.app_schema import App
from pytest_clawperator.simulator.screen.state.app_state import AppState
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.state.task import Task


class InstalledApps:
    """The apps of a phone; ``package in apps`` says whether one is installed."""

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
        """Remove an app; False where it was not installed."""
        if package not in self._state.tasks:
            return False
        self._processes.force_stop(package)
        self._state.permissions.clear(package)
        del self._state.tasks[package]
        self._launching.renew_home_page()
        self._state.changes.note()
        return True
