"""The Operator apps of a phone: which are installed, which run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.operator.app import OperatorApp
from pytest_clawperator.simulator.operator.profile import Profile
from pytest_clawperator.simulator.screen.accessibility.events import AccessibilityEvent


class OperatorHost:
    """Keeps the Operators; one that is not installed takes nothing and does nothing."""

    def __init__(self, make: Callable[[str], OperatorApp], *, profile: Profile) -> None:
        self._make = make
        self._profile: Profile = profile
        self._apps: dict[str, OperatorApp] = {}

    @property
    def profile(self) -> Profile:
        """The profile of all of them; settable while they run."""
        return self._profile

    @profile.setter
    def profile(self, value: Profile) -> None:
        self._profile = value
        for app in self._apps.values():
            app.profile = value

    def start(self, package: str) -> None:
        """Start an Operator, unless it runs."""
        app = self._apps.get(package)
        if app is None:
            app = self._apps[package] = self._make(package)
            app.profile = self._profile
        app.start()

    def pid_of(self, package: str) -> int | None:
        """Return the pid of an Operator that runs."""
        app = self._apps.get(package)
        return app.pid if app is not None and app.alive else None

    def stop(self, package: str) -> None:
        """End an Operator and whatever it is doing."""
        app = self._apps.get(package)
        if app is not None:
            app.kill()

    def crash(self, package: str, message: str) -> None:
        """Crash an Operator with an exception."""
        app = self._apps.get(package)
        if app is not None:
            app.crash(message)

    def receive(self, package: str, payload: str | None) -> None:
        """Deliver a command to an Operator, which is started if need be."""
        self.start(package)
        self._apps[package].receive(payload)

    def on_event(self, event: str) -> None:
        """Notify every running Operator of an event on the screen."""
        assert isinstance(event, AccessibilityEvent)
        for app in self._apps.values():
            app.on_accessibility_event(event)

    def on_back_key(self) -> None:
        """Notify every running Operator of the back key."""
        for app in self._apps.values():
            app.on_back_key()

    def bring_back(self, pids: Mapping[str, int | None]) -> None:
        """Let Operators run with the pids that they had, and no other."""
        for package, pid in pids.items():
            if pid is None:
                self.stop(package)
            else:
                self.start(package)
                self._apps[package].pid = pid

    async def close(self) -> None:
        """End all of them and wait until their work has ended."""
        for app in self._apps.values():
            await app.stop()
