"""``timeout=`` lasts as long as it says, in pauses that the Operator takes as they are."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client.timing import SEGMENT, Countdown, retry_for, seconds_of, timeout_of
from pytest_clawperator.contracts.params import MAX_BACKOFF, pauses_ms
from pytest_clawperator.errors import ConfigurationError


@pytest.mark.parametrize(
    "seconds", [0.001, 0.05, 0.2, 0.333, 1, 2, 3, 5, SEGMENT, 7, 10, 20, 60, 110]
)
def test_pauses_sum_up_to_the_timeout(seconds: float) -> None:
    """Whatever the timeout, the pauses last that long and within 15 ms no longer."""
    retry = retry_for(seconds).to_wire()

    total = pauses_ms(retry)

    assert seconds * 1000 <= total <= seconds * 1000 + 15


@pytest.mark.parametrize("seconds", [0.2, 1, 5, SEGMENT])
def test_a_segment_looks_early_and_often(seconds: float) -> None:
    """Ten attempts, the first pause short, none longer than a second, nothing left to chance."""
    retry = retry_for(seconds).to_wire()

    assert retry["maxAttempts"] == 10
    assert retry["initialDelayMs"] <= seconds * 1000 * 0.016 + 1
    assert retry["maxDelayMs"] <= 1000
    assert retry["jitterRatio"] == 0


@pytest.mark.parametrize("seconds", [0.2, 0.9, 5, 33, 60, 115])
def test_retry_objects_stay_within_the_operators_bounds(seconds: float) -> None:
    """No number is one that the Operator would change."""
    retry = retry_for(seconds).to_wire()

    assert 1 <= retry["backoffMultiplier"] <= MAX_BACKOFF
    assert 0 <= retry["initialDelayMs"] <= 30_000
    assert retry["initialDelayMs"] <= retry["maxDelayMs"] <= 60_000


def test_no_time_is_one_attempt() -> None:
    """``timeout=0`` tries exactly once."""
    assert retry_for(0).to_wire() == {"maxAttempts": 1}


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "5", True, [5]])
def test_nonsense_is_refused(timeout: Any) -> None:
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


def test_countdown_by_the_clock() -> None:
    """A device that is slower than its pauses does not prolong the wait."""
    clock = Clock()
    countdown = Countdown(10, clock=clock)
    assert countdown.left == 10

    clock.now += 8
    countdown.spend(1)

    assert countdown.left == 2
    assert countdown.segment().seconds == 2


def test_countdown_by_the_pauses() -> None:
    """A device that shortens its pauses does not get more of them."""
    clock = Clock()
    countdown = Countdown(10, clock=clock)
    assert countdown.left == 10

    countdown.spend(6.5)
    clock.now += 0.1

    assert countdown.left == 3.5
    assert not countdown.is_over


def test_countdown_begins_when_it_is_asked() -> None:
    """What is done before anything is sent takes nothing from the first wait."""
    clock = Clock()
    countdown = Countdown(5, clock=clock)

    clock.now += 3

    assert countdown.segment().seconds == 5


def test_segments_of_a_long_wait() -> None:
    """A long wait is cut into segments, the last one as long as what is left."""
    clock = Clock()
    countdown = Countdown(15, clock=clock)
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
