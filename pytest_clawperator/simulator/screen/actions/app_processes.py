"""The processes of apps: which run, and how they are killed."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.state.system_pages import LAUNCHER


class AppProcesses:
    """Kills apps, with or without their data."""

    def __init__(self, state: PhoneState) -> None:
        self._state = state

    def running_packages(self) -> list[str]:
        """List the apps whose process lives, the home screen first."""
        running = [package for package, task in self._state.tasks.items() if task.running]
        return [LAUNCHER, *running]

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
