"""How ``timeout=`` becomes time: retry objects that really last as long as was asked.

The Operator tries an action at most ten times, so one retry object can look for a node
frequently only for a few seconds. A longer wait is split into segments, one execution each;
the host never sleeps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.actions import Retry, to_milliseconds
from pytest_clawperator.contracts.params import MAX_ATTEMPTS, MAX_BACKOFF, pauses_ms
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import ConfigurationError

SEGMENT = 6.5
LONGEST_PAUSE = 1.0
# How long the device pauses between two snapshots of the whole screen.
POLL = 0.2
_FIRST_PAUSE_RATIO = 0.015
# Below this, in milliseconds, ten attempts would come without pauses to speak of.
_SHORT = 200
_ONCE = Retry(max_attempts=1)


def timeout_of(timeout: Any, default: float | None = None, *, name: str = "timeout=") -> float:
    """Return a ``timeout=`` as seconds, checked; None stands for the default."""
    seconds = seconds_of(timeout, default, name=name)
    if seconds <= limits.MAX_LOOKING:
        return seconds
    raise ConfigurationError(
        f"{name} is at most {limits.MAX_LOOKING} seconds, found {shown(timeout)}",
        hint=f"Seconds, not milliseconds? {seconds:g} ms are {seconds / 1000:g}.",
    )


def seconds_of(timeout: Any, default: float | None = None, *, name: str = "timeout=") -> float:
    """Return a number of seconds, checked; None stands for the default."""
    given: Any = default if timeout is None else timeout
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if is_number and math.isfinite(given) and given >= 0:
        return float(given)
    raise ConfigurationError(
        f"{name} must be a number of seconds, found {shown(given)}",
        hint="Write timeout=10 for ten seconds, timeout=0 for one attempt."
        if name == "timeout="
        else "Seconds are a number that is not negative.",
    )


def retry_for(seconds: float) -> Retry:
    """Return a retry object whose pauses begin short, grow, and sum up to so many seconds.

    ``retry_for(0)`` is one attempt. Up to one segment no pause is longer than a second; beyond
    it, if all must fit into one object, pauses become longer.
    """
    return _retry_of(to_milliseconds(seconds))


@lru_cache(maxsize=256)
def _retry_of(whole: int) -> Retry:
    if whole <= 0:
        return _ONCE
    if whole < _SHORT:
        return Retry(max_attempts=2, initial_delay=whole / 1000, jitter_ratio=0)
    first = math.ceil(whole * _FIRST_PAUSE_RATIO) / 1000
    longest = max(LONGEST_PAUSE, whole / 1000 / (MAX_ATTEMPTS - 3))

    def with_backoff(factor: float) -> Retry:
        return Retry(
            max_attempts=MAX_ATTEMPTS,
            initial_delay=first,
            max_delay=longest,
            backoff_multiplier=factor,
            jitter_ratio=0,
        )

    return with_backoff(_least_factor(lambda f: pauses_ms(with_backoff(f).to_wire()), whole))


def _least_factor(total: Callable[[float], float], wanted: float) -> float:
    """Return the least growth factor, to four digits, whose pauses add up to the wanted total."""
    low, high = 10_000, MAX_BACKOFF * 10_000
    while low < high:
        middle = (low + high) // 2
        if total(middle / 10_000) < wanted:
            low = middle + 1
        else:
            high = middle
    return low / 10_000


@dataclass(frozen=True)
class Wait:
    """How long one action looks for its node before it gives up."""

    seconds: float

    @property
    def retry(self) -> Retry:
        """The same as a retry object."""
        return retry_for(self.seconds)


class Countdown:
    """What is left of a timeout, by the clock and by the pauses sent to the device.

    Whichever has used up more counts: a slow device does not prolong the wait, and a simulated
    one, whose pauses are shortened, does not get more attempts. It starts at its first use.
    """

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._deadline: float | None = None
        self._left = seconds

    @property
    def left(self) -> float:
        """The seconds that are left, never less than none."""
        if self._deadline is None:
            self._deadline = self._clock() + self.seconds
            return self.seconds
        return max(0.0, min(self._left, self._deadline - self._clock()))

    @property
    def is_over(self) -> bool:
        """Whether too little is left for another attempt."""
        return self.left < 0.001

    def segment(self, longest: float = SEGMENT) -> Wait:
        """Return the wait of the next execution."""
        return Wait(min(self.left, longest))

    def spend(self, seconds: float) -> None:
        """Count pauses that were sent to the device."""
        self._left -= seconds
