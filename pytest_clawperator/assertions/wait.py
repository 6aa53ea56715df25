"""Wait until a check holds: take snapshots, judge them, and log what was found meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

from pytest_clawperator.assertions.checks import Check, Verdict
from pytest_clawperator.client.actions import Actions
from pytest_clawperator.client.perform import last_step
from pytest_clawperator.client.plans import NOT_YET_THERE
from pytest_clawperator.client.timing import timeout_of
from pytest_clawperator.contracts.actions import Retry, SnapshotUi
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    SnapshotError,
    StepFailedError,
)
from pytest_clawperator.execution.crashes import EXPECTING, AppWatch
from pytest_clawperator.snapshot.near_miss import CRASH_HINT, SystemWindow, system_window
from pytest_clawperator.snapshot.tree import Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line
T = TypeVar("T")
# Nothing signals that a screen or a value has changed; it is checked again after these pauses.
SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.25
# What raises one of these is tried again: an unreadable screen, a failed assertion.
_NOT_YET = (AssertionError, SnapshotError)

# Codes of a failed step that may succeed later, because the screen changes.
_MAY_SUCCEED_LATER = NOT_YET_THERE | {
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
# No answer in at least this many seconds means a broken device.
_FAIR_LIMIT, _LEAST_LIMIT = 3.0, 1.0
_SHOWN_CHANGES = 10
_LONGEST_LINE = 200
_PARTIAL_HINT = "What it lacks is not known: take the snapshot again."
_WINDOW_HINT = (
    "What is absent may be behind it: answer the window first; or expect it, as in"
    " expect(claw.node(...)).to_be_visible(), if the test means it."
)
_limit: ContextVar[float | None] = ContextVar("limit", default=None)


def look_limit() -> float | None:
    """Return how many seconds the current snapshot may take; None means no limit."""
    return _limit.get()


def may_succeed_later(error: BaseException) -> bool:
    """Whether what failed may succeed if it is tried again."""
    return not isinstance(error, StepFailedError) or error.code in _MAY_SUCCEED_LATER


@dataclass(frozen=True)
class Clock:
    """The clock and the sleep of the wait loop."""

    now: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep


class Doubt(NamedTuple):
    """Why it says nothing that something is absent: what was found instead, and what to do.

    ``lines`` are evidence. With ``is_final`` no further look can change it.
    """

    found: str
    hint: str
    lines: tuple[str, ...] = ()
    code: ErrorCode | None = None
    is_final: bool = False


class Entry(NamedTuple):
    """One check in the log: what was found, and after how many seconds."""

    found: str
    at: float


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """The result of waiting for a check.

    ``seen`` is what was seen last, None if nothing was; ``error`` is why the last attempt
    failed. ``late`` is how long after the deadline the check passed, ``doubt`` why a check that
    seems to hold does not count.
    """

    verdict: Verdict
    seen: T | None
    error: Exception | None
    log: tuple[Entry, ...]
    seconds: float
    late: float | None = None
    doubt: Doubt | None = None

    @property
    def holds(self) -> bool:
        """Whether the check held in time."""
        return bool(self.verdict.holds)

    @property
    def log_lines(self) -> list[str]:
        """The log with equal entries counted, as in ``14 × no match in 5.0 s``."""
        groups = [list(group) for _, group in groupby(self.log, key=lambda entry: entry.found)]
        ends = [group[0].at for group in groups[1:]] + [self.seconds]
        lines = [
            f"{len(group)} × {group[0].found} in {format_duration(end - group[0].at)}"
            for group, end in zip(groups, ends, strict=True)
        ]
        rest = len(lines) - _SHOWN_CHANGES
        if rest > 0:
            lines[2 : 2 + rest] = [f"... {rest} more change{'' if rest == 1 else 's'}"]
        return lines


def format_duration(seconds: float) -> str:
    """Format a duration, as in ``5.0 s`` or ``20 ms``."""
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms"


def pause_after(took: float) -> float:
    """Return the pause after an attempt: as long as the attempt took, within bounds.

    So a quick device is checked often, and a slow one is not flooded.
    """
    return min(max(took, SHORTEST_PAUSE), LONGEST_PAUSE)


def no_doubt() -> None:
    """Believe every check that holds."""


def watch(
    look: Callable[[], T],
    judge: Callable[[T], Verdict],
    *,
    doubt: Callable[[], Doubt | None] = no_doubt,
    timeout: float,
    linger: float = 0.0,
    clock: Clock,
) -> Outcome[T]:
    """Look and judge until the check holds or the time is over.

    The first attempt starts immediately and has no limit; later ones have the time that is left,
    and at least a second. After the deadline, attempts continue for ``linger`` seconds, only to
    report whether the check passed late. ``doubt`` is asked about each check that holds.
    """
    loop = _WaitLoop(look, judge, doubt, clock)
    is_over = loop.look_once()
    while not is_over and loop.pause_until(timeout):
        is_over = loop.look_once(until=timeout)
    outcome = loop.outcome()
    if is_over or not timeout or not linger:
        return outcome
    return replace(outcome, late=loop.late(timeout, linger))


class _WaitLoop(Generic[T]):
    """The attempts of one expectation."""

    def __init__(
        self,
        look: Callable[[], T],
        judge: Callable[[T], Verdict],
        doubt: Callable[[], Doubt | None],
        clock: Clock,
    ) -> None:
        self._look = look
        self._judge = judge
        self._ask_doubt = doubt
        self._doubt: Doubt | None = None
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

    def look_once(self, *, until: float | None = None) -> bool:
        """Look and judge once; return whether the check holds, or never will."""
        began = self.elapsed
        limit = None if until is None else max(_LEAST_LIMIT, until - began)
        try:
            with _limited(limit):
                seen = self._look()
        except _NOT_YET as error:
            if not may_succeed_later(error):
                raise
            self._error = error
            self.verdict = Verdict(None, _in_one_line(error))
        except ClawperatorError as error:
            if error.code not in _NO_ANSWER or limit is None or limit >= _FAIR_LIMIT:
                raise  # it had enough time
            self._ended = self.elapsed
            self._log.append(Entry(f"no answer within {format_duration(limit)}", began))
            return False
        else:
            self._seen, self._error = seen, None
            self.verdict = self._believed(self._judge(seen))
        self._ended = self.elapsed
        self._took = self._ended - began
        self._log.append(Entry(self.verdict.found, began))
        return bool(self.verdict.holds) or (self._doubt is not None and self._doubt.is_final)

    def _believed(self, verdict: Verdict) -> Verdict:
        """Return the verdict, or one that does not hold if there is a doubt about it."""
        self._doubt = self._ask_doubt() if verdict.holds else None
        if self._doubt is None:
            return verdict
        return Verdict(None, self._doubt.found, self._doubt.hint)

    def pause_until(self, deadline: float) -> bool:
        """Wait before the next attempt; return False if there is no time for one."""
        left = deadline - self.elapsed
        if left <= 0:
            return False
        self._clock.wait(min(pause_after(self._took), left))
        return True

    def outcome(self) -> Outcome[T]:
        """Return the result so far."""
        log = tuple(self._log)
        return Outcome(self.verdict, self._seen, self._error, log, self._ended, doubt=self._doubt)

    def late(self, deadline: float, linger: float) -> float | None:
        """Keep trying for a moment; return how long after the deadline the check passed."""
        try:
            while self.pause_until(deadline + linger):
                if self.look_once(until=deadline + linger):
                    return max(0.0, self._ended - deadline)
        except (ClawperatorError, AssertionError):
            pass  # the failure that is about to be reported matters more
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


# Where snapshots come from

# Seconds after which any snapshot has ended by itself.
_AMPLE = 30.0
_ONE_TRY = SnapshotUi(retry=Retry(max_attempts=1))


@dataclass
class LiveScreen:
    """The screen of a device."""

    client: Actions
    _seen: Snapshot | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def serial(self) -> str | None:
        """The device's serial."""
        return self.client.serial

    @property
    def is_strict(self) -> bool:
        """Whether a matcher that matches several nodes is an error."""
        return self.client.performer.strict

    def look(self) -> Snapshot:
        """Take a snapshot, within the time that is left for it."""
        limit = look_limit()
        if limit is None or limit > _AMPLE:
            self._seen = self.client.snapshot()
        else:
            result = self.client.performer.run([_ONE_TRY], timeout=limit)
            result.raise_for_status()
            self._seen = last_step(result).snapshot
        return self._seen

    def doubt(self, check: Check[Any]) -> Doubt | None:
        """Return why it means nothing that a check holds on the last snapshot, or None."""
        apps = self.client.performer.apps
        window = None if self._seen is None else system_window(self._seen)
        if not _is_about_absence(check) or window is None:
            apps.known_window = window  # what a check finds in a window, the test knows about
        crash = apps.crash if check.is_negative else None
        if crash is not None:
            return Doubt(
                f"that {crash}", EXPECTING, crash.head, ErrorCode.APP_CRASHED, is_final=True
            )
        return None if window in (None, apps.known_window) else _behind(window, apps)

    def seconds(self, timeout: float | None, default: float | None) -> float:
        """Return how long to wait: the timeout if given, else the default, else the client's."""
        return timeout_of(timeout, self.client.timeout if default is None else default)


@dataclass(frozen=True)
class FixedScreen:
    """A snapshot that was taken before: it does not change, so there is nothing to wait for."""

    snapshot: Snapshot
    serial: str | None = None
    is_strict: bool = False

    def look(self) -> Snapshot:
        """Return the snapshot."""
        return self.snapshot

    def doubt(self, check: Check[Any]) -> Doubt | None:
        """Return why it means nothing that a check holds, or None."""
        if self.snapshot.is_partial and (check.about_all or _is_about_absence(check)):
            return Doubt("a snapshot that breaks off", _PARTIAL_HINT)
        return _behind(system_window(self.snapshot)) if _is_about_absence(check) else None

    def seconds(self, timeout: float | None, default: float | None) -> float:
        """Return 0; refuse a timeout."""
        if timeout is not None:
            raise ConfigurationError(
                f"timeout={timeout} makes no sense here: a snapshot stays as it is",
                hint="Use expect() on claw.node(...) or on the client to wait.",
            )
        return 0.0


def _is_about_absence(check: Check[Any]) -> bool:
    """Whether a check may hold because nothing is there."""
    return check.is_negative and check.judge_one is None


def _behind(window: SystemWindow | None, apps: AppWatch | None = None) -> Doubt | None:
    """Return the doubt about a screen that a window of the system hides, or None."""
    if window is None or (apps is not None and apps.explains(window)):
        return None
    return Doubt(str(window), CRASH_HINT if window.is_crash else _WINDOW_HINT)


#: Where snapshots come from.
ScreenSource = LiveScreen | FixedScreen
