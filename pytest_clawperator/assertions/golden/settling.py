"""Keeping a screen once it has come to rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pytest_clawperator.assertions.polling import Clock, Verdict, watch

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")

SECONDS = 0.5

_FITS = Verdict(True, "fits")


class Settling:
    """Tells whether a screen has shown the same for a while, so that it may be kept."""

    def __init__(self, clock: Clock, *, seconds: float = SECONDS) -> None:
        self._clock = clock
        self._seconds = seconds
        self._shown: object = None
        self._since = 0.0

    def is_settled(self, shown: object) -> bool:
        """Take note of what is shown now."""
        now = self._clock.now()
        if shown != self._shown:
            self._shown, self._since = shown, now
            return False
        return now - self._since >= self._seconds


def keep(
    look: Callable[[], T],
    *,
    fits: Callable[[T], bool],
    shown: Callable[[T], object],
    write: Callable[[T], None],
    timeout: float,
    clock: Clock,
) -> None:
    """Wait until a screen fits its golden or has come to rest; write one that does not fit.

    ``shown`` is what must stay the same for a screen to be at rest.
    """
    settling = Settling(clock)

    def judge(seen: T) -> Verdict:
        return _FITS if fits(seen) else Verdict(settling.is_settled(shown(seen)), "unsettled")

    outcome = watch(look, judge, timeout=timeout, clock=clock)
    if outcome.verdict == _FITS:
        return
    if outcome.seen is None:
        assert outcome.error is not None, "a look sees something, or says why not"
        raise outcome.error
    write(outcome.seen)
