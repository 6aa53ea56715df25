"""``timeout=`` lasts as long as it should, in pauses that the Operator takes as they are."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client.timing import SEGMENT, Countdown, retry_for, seconds_of, timeout_of
from pytest_clawperator.contracts.params import MAX_BACKOFF, pauses_ms
from pytest_clawperator.errors import ConfigurationError


@pytest.mark.parametrize(
    "seconds", [0.001, 0.05, 0.2, 0.333, 0.9, 1, 2, 3, 5, SEGMENT, 7, 10, 20, 33, 60, 115]
)
def test_pauses_sum_up_to_the_timeout(seconds: float) -> None:
    """Within 15 ms, in numbers that the Operator takes as they are."""
    retry = retry_for(seconds).to_wire()

    assert seconds * 1000 <= pauses_ms(retry) <= seconds * 1000 + 15
    assert retry["jitterRatio"] == 0
    if seconds >= 0.2:
        assert retry["maxAttempts"] == 10
        assert 1 <= retry["backoffMultiplier"] <= MAX_BACKOFF
        assert 0 <= retry["initialDelayMs"] <= min(seconds * 1000 * 0.016 + 1, 30_000)
        longest = 1000 if seconds <= SEGMENT else 60_000
        assert retry["initialDelayMs"] <= retry["maxDelayMs"] <= longest


def test_no_time_is_one_attempt() -> None:
    """``timeout=0`` tries exactly once."""
    assert retry_for(0).to_wire() == {"maxAttempts": 1}


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "5", True, [5]])
def test_an_invalid_timeout_is_refused(timeout: Any) -> None:
    """A timeout that is not a number of seconds is refused."""
    with pytest.raises(ConfigurationError) as refused:
        seconds_of(timeout, 5.0)

    assert "timeout=" in refused.value.message
    assert "timeout=10" in str(refused.value.hint)


def test_none_is_the_default() -> None:
    """What is not given is taken from the client."""
    assert seconds_of(None, 3) == 3.0
    assert seconds_of(0, 3) == 0.0


class Clock:
    """A clock that is moved by hand."""

    now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.mark.parametrize(
    ("before", "passed", "spent", "left"),
    [
        (0, 8, 1, 2),  # a device that is slower than its pauses does not prolong the wait
        (0, 0.1, 6.5, 3.5),  # one that shortens its pauses does not get more of them
        (3, 0, 0, 10),  # it begins when it is first asked
    ],
)
def test_a_countdown(before: float, passed: float, spent: float, left: float) -> None:
    """Whichever of clock and pauses has used up more counts."""
    clock = Clock()
    countdown = Countdown(10, clock=clock)
    clock.now += before
    assert countdown.left == 10

    clock.now += passed
    countdown.spend(spent)

    assert countdown.left == left
    assert countdown.segment().seconds == min(left, SEGMENT)
    assert not countdown.is_over


def test_segments_of_a_long_wait() -> None:
    """A long wait is cut into segments, the last one as long as what is left."""
    countdown = Countdown(15, clock=Clock())
    lengths = []

    while not countdown.is_over:
        wait = countdown.segment()
        lengths.append(wait.seconds)
        countdown.spend(wait.seconds)

    assert lengths == [SEGMENT, SEGMENT, 2.0]


def test_ten_minutes_are_the_longest_timeout() -> None:
    """A greater number is meant as milliseconds, and the message says so."""
    with pytest.raises(ConfigurationError) as refused:
        timeout_of(3000, 5.0)

    assert timeout_of(600, 5.0) == 600
    assert refused.value.message == "timeout= is at most 600 seconds, found 3000"
    assert refused.value.hint == "Seconds, not milliseconds? 3000 ms are 3."
