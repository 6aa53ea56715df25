"""Pauses and time limits of one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pytest_clawperator.simulator.phone_clock import PhoneClock


class TimeLimitReached(Exception):
    """A time limit was reached in the middle of a pause."""

    def __init__(self, limit: TimeLimit) -> None:
        super().__init__("a time limit was reached")
        self.limit = limit


class TimeLimit:
    """A moment after which what is going on shall end."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline


class RunTime:
    """Pauses and limits of one command."""

    def __init__(self, clock: PhoneClock) -> None:
        self._clock = clock
        self._limits: list[TimeLimit] = []

    def now(self) -> float:
        """Return the time in milliseconds."""
        return self._clock.now()

    def elapsed(self, since: float) -> int:
        """Return the whole milliseconds since a moment."""
        return round(self.now() - since)

    async def pause(self, duration_ms: float) -> None:
        """Wait; TimeLimitReached as soon as a limit falls into the wait."""
        first = min(self._limits, key=lambda limit: limit.deadline, default=None)
        left = None if first is None else first.deadline - self.now()
        if first is None or left is None or left > duration_ms:
            await self._clock.sleep(duration_ms)
            return
        await self._clock.sleep(left)
        raise TimeLimitReached(first)

    @contextmanager
    def limit(self, duration_ms: float) -> Iterator[TimeLimit]:
        """Limit the pauses within the block to so many milliseconds altogether."""
        limit = TimeLimit(self.now() + duration_ms)
        self._limits.append(limit)
        try:
            yield limit
        finally:
            self._limits.remove(limit)
