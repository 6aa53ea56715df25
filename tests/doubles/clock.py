"""Time that passes only when somebody waits, so that no test has to."""

from __future__ import annotations

from pytest_clawperator.assertions.wait_loop import Clock


class FakeTime:
    """A clock that stands still, but for pauses and what is said to take time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def pass_by(self, seconds: float) -> None:
        """Let something take time."""
        self.now += seconds

    def wait(self, seconds: float) -> None:
        """Wait, in no time."""
        self.pauses.append(seconds)
        self.now += seconds

    @property
    def clock(self) -> Clock:
        """The same for those who poll."""
        return Clock(now=lambda: self.now, wait=self.wait)
