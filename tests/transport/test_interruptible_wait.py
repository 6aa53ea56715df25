"""Waiting for another thread, and being interrupted meanwhile."""

from __future__ import annotations

import threading

import pytest

from pytest_clawperator.transport.interruptible_wait import Wakeup, start_thread

DEADLINE = 20.0


def test_a_wakeup_wakes_all_who_wait() -> None:
    """Each waiter's lock can be acquired after the wakeup, and not before."""
    wakeup = Wakeup()
    waiters = [wakeup.waiter(), wakeup.waiter()]

    before = [waiter.acquire(blocking=False) for waiter in waiters]
    wakeup.wake_all()
    after = [waiter.acquire(timeout=DEADLINE) for waiter in waiters]

    assert before == [False, False]
    assert after == [True, True]


def test_each_wakeup_is_for_those_who_wait_then() -> None:
    """A second wakeup leaves those of the first alone, and wakes those who came since."""
    wakeup = Wakeup()
    first = wakeup.waiter()
    wakeup.wake_all()

    second = wakeup.waiter()
    early = second.acquire(blocking=False)
    wakeup.wake_all()

    assert not early
    assert first.acquire(blocking=False)
    assert second.acquire(blocking=False)


class Unlucky(threading.Thread):
    """A thread whose start fails in a given way."""

    def __init__(self, cause: BaseException | None) -> None:
        super().__init__()
        self._cause = cause

    def start(self) -> None:
        """Fail as an event does: while it handles an error, there is another one."""
        if self._cause is None:
            raise RuntimeError("can't start new thread")
        try:
            raise self._cause
        finally:
            threading.Lock().release()


def test_an_interrupted_start_is_an_interrupt() -> None:
    """What the interrupt did to the locks of `Thread` is not what the user is told."""
    with pytest.raises(KeyboardInterrupt) as caught:
        start_thread(Unlucky(KeyboardInterrupt()))

    assert caught.value.__suppress_context__


def test_a_thread_that_cannot_be_started_raises_its_error() -> None:
    """An error that no interrupt caused stays what it is."""
    with pytest.raises(RuntimeError, match="can't start new thread"):
        start_thread(Unlucky(None))
