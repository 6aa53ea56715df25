"""Looking again until it is so: how often, how long, and what was seen meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

from pytest_clawperator.client.plan.plan import NOT_YET_THERE
from pytest_clawperator.errors import (
    ClawperatorError,
    ErrorCode,
    SnapshotError,
    StepFailedError,
)

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")

SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.25
# What a look may raise that means "not yet": no screen to be read, an assertion in a function.
NOT_YET = (AssertionError, SnapshotError)
# What a step may fail with because the screen is not yet as it will be.
_MAY_COME = NOT_YET_THERE | {
    ErrorCode.NODE_NOT_CLICKABLE,
    ErrorCode.NODE_AMBIGUOUS,
    ErrorCode.CONTAINER_NOT_SCROLLABLE,
    ErrorCode.CONTAINER_LOST,
    ErrorCode.TARGET_NOT_FOUND,
    ErrorCode.NAVIGATION_TIMEOUT,
    ErrorCode.SNAPSHOT_EXTRACTION_FAILED,
    ErrorCode.SNAPSHOT_UNREADABLE,
}
_NO_ANSWER = frozenset({ErrorCode.RESULT_ENVELOPE_TIMEOUT, ErrorCode.EXECUTION_TIMED_OUT})
# A look that was given at least so many seconds and got no answer tells of a broken device.
_FAIR_LIMIT, _LEAST_LIMIT = 3.0, 1.0

_SHOWN_CHANGES = 10
_LONGEST_LINE = 200

_limit: ContextVar[float | None] = ContextVar("limit", default=None)


def look_limit() -> float | None:
    """Say how many seconds the current look may take; None: as long as it takes."""
    return _limit.get()


def may_come(error: BaseException) -> bool:
    """Tell whether what failed may be so when it is looked at again."""
    return not isinstance(error, StepFailedError) or error.code in _MAY_COME


@dataclass(frozen=True)
class Clock:
    """Time, and how it is spent."""

    now: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep


class Verdict(NamedTuple):
    """What one look told.

    ``holds`` is None where it cannot be told, so that the opposite does not hold either.
    ``found`` says in few words what is there, ``hint`` what to do about it.
    """

    holds: bool | None
    found: str
    hint: str | None = None


class Entry(NamedTuple):
    """One line of the log: what was found, and after how many seconds."""

    found: str
    at: float


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What watching came to.

    ``seen`` is what the last look saw, None if no look saw anything; ``error`` is why the
    last one saw nothing. ``late`` says how long after the deadline it was so after all.
    """

    verdict: Verdict
    seen: T | None
    error: Exception | None
    log: tuple[Entry, ...]
    seconds: float
    late: float | None = None

    @property
    def holds(self) -> bool:
        """Whether it was so in time."""
        return bool(self.verdict.holds)

    @property
    def log_lines(self) -> list[str]:
        """The log with repeats folded, as in ``14 × no match in 5.0 s``."""
        groups = [list(group) for _, group in groupby(self.log, key=lambda entry: entry.found)]
        ends = [group[0].at for group in groups[1:]] + [self.seconds]
        lines = [
            f"{len(group)} × {group[0].found} in {spoken(end - group[0].at)}"
            for group, end in zip(groups, ends, strict=True)
        ]
        rest = len(lines) - _SHOWN_CHANGES
        if rest > 0:
            lines[2 : 2 + rest] = [f"... {rest} more change{'' if rest == 1 else 's'}"]
        return lines


def spoken(seconds: float) -> str:
    """Say how long."""
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms"


def pause_after(took: float) -> float:
    """Say how long to wait after a look: as long as it took, within bounds.

    So a quick device is watched closely, and a slow one is not flooded.
    """
    return min(max(took, SHORTEST_PAUSE), LONGEST_PAUSE)


def watch(
    look: Callable[[], T],
    judge: Callable[[T], Verdict],
    *,
    timeout: float,
    linger: float = 0.0,
    clock: Clock,
) -> Outcome[T]:
    """Look until it is so, or the time is over.

    The first look comes at once and may take as long as it takes; later ones have what is
    left, and a second at least. After the deadline there is ``linger`` more, only to tell
    whether it was a matter of time.
    """
    watching = _Watching(look, judge, clock)
    holds = watching.glance()
    while not holds and watching.pause_until(timeout):
        holds = watching.glance(until=timeout)
    outcome = watching.outcome()
    if outcome.holds or not timeout or not linger:
        return outcome
    return replace(outcome, late=watching.late(timeout, linger))


class _Watching(Generic[T]):
    """One expectation being watched."""

    def __init__(self, look: Callable[[], T], judge: Callable[[T], Verdict], clock: Clock) -> None:
        self._look = look
        self._judge = judge
        self._clock = clock
        self._start = clock.now()
        self._log: list[Entry] = []
        self._ended = self._took = 0.0
        self._seen: T | None = None
        self._error: Exception | None = None
        self.verdict = Verdict(None, "nothing")

    @property
    def elapsed(self) -> float:
        return self._clock.now() - self._start

    def glance(self, *, until: float | None = None) -> bool:
        """Look once, and tell whether it is so."""
        began = self.elapsed
        limit = None if until is None else max(_LEAST_LIMIT, until - began)
        try:
            with _limited(limit):
                seen = self._look()
        except NOT_YET as error:
            if not may_come(error):
                raise
            self._error = error
            self.verdict = Verdict(None, _in_one_line(error))
        except ClawperatorError as error:
            if error.code not in _NO_ANSWER or limit is None or limit >= _FAIR_LIMIT:
                raise  # it had all the time that it needs
            self._ended = self.elapsed
            self._log.append(Entry(f"no answer within {spoken(limit)}", began))
            return False
        else:
            self._seen, self._error = seen, None
            self.verdict = self._judge(seen)
        self._ended = self.elapsed
        self._took = self._ended - began
        self._log.append(Entry(self.verdict.found, began))
        return bool(self.verdict.holds)

    def pause_until(self, deadline: float) -> bool:
        """Wait before the next look; tell whether there is time for one."""
        left = deadline - self.elapsed
        if left <= 0:
            return False
        self._clock.wait(min(pause_after(self._took), left))
        return True

    def outcome(self) -> Outcome[T]:
        """Say what it came to so far."""
        return Outcome(self.verdict, self._seen, self._error, tuple(self._log), self._ended)

    def late(self, deadline: float, linger: float) -> float | None:
        """Watch on for a moment, and say how long after the deadline it was so, if it was."""
        try:
            while self.pause_until(deadline + linger):
                if self.glance(until=deadline + linger):
                    return max(0.0, self._ended - deadline)
        except (
            ClawperatorError,
            AssertionError,
        ):  # the failure that is about to be told matters more
            pass
        return None


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    token = _limit.set(seconds)
    try:
        yield
    finally:
        _limit.reset(token)


def _in_one_line(error: Exception) -> str:
    first = str(error).partition("\n")[0] or type(error).__name__
    return first if len(first) <= _LONGEST_LINE else f"{first[:_LONGEST_LINE]}..."
