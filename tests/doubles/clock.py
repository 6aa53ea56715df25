"""A clock that moves only when something waits, so that tests do not."""

from __future__ import annotations

from pytest_clawperator.assertions.wait import Clock


class FakeTime:
    """A clock that stands still, except for pauses and explicit advances."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def pass_by(self, seconds: float) -> None:
        """Advance the clock."""
        self.now += seconds

    def wait(self, seconds: float) -> None:
        """Advance the clock instead of waiting."""
        self.pauses.append(seconds)
        self.now += seconds

    @property
    def clock(self) -> Clock:
        """The same for those who poll."""
        return Clock(now=lambda: self.now, wait=self.wait)
