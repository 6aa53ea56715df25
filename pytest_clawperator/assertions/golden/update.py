"""Updating goldens: write a screen that does not match, once it no longer changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pytest_clawperator.assertions.checks.check import Verdict
from pytest_clawperator.assertions.wait_loop import Clock, watch

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")

#: A screen that shows the same for this many seconds is settled.
SETTLED_AFTER = 0.5

_MATCHES = Verdict(True, "matches")


def update_when_settled(
    look: Callable[[], T],
    *,
    matches: Callable[[T], bool],
    shown: Callable[[T], object],
    write: Callable[[T], None],
    timeout: float,
    clock: Clock,
) -> None:
    """Wait until a screen matches its golden or is settled; write it if it does not match.

    ``shown`` returns what must stay the same for a screen to be settled.
    """
    settling = _Settling(clock)

    def judge(seen: T) -> Verdict:
        return _MATCHES if matches(seen) else Verdict(settling.is_settled(shown(seen)), "unsettled")

    outcome = watch(look, judge, timeout=timeout, clock=clock)
    if outcome.verdict == _MATCHES:
        return
    if outcome.seen is None:
        assert outcome.error is not None, "a look returns something, or fails"
        raise outcome.error
    write(outcome.seen)


class _Settling:
    """Notices when a screen has shown the same for a while."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._shown: object = None
        self._since = 0.0

    def is_settled(self, shown: object) -> bool:
        """Note what is shown now; return whether it has been the same long enough."""
        now = self._clock.now()
        if shown != self._shown:
            self._shown, self._since = shown, now
            return False
        return now - self._since >= SETTLED_AFTER
