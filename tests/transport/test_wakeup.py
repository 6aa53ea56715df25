"""Waiting for another thread, and being interrupted meanwhile."""

from __future__ import annotations

import threading

import pytest

from pytest_clawperator.transport.wakeup import Bell, start_thread

DEADLINE = 20.0


def test_ringing_wakes_all_who_listen() -> None:
    """Each listener's lock can be had once the bell rang, and not before."""
    bell = Bell()
    listeners = [bell.listen(), bell.listen()]

    before = [listener.acquire(blocking=False) for listener in listeners]
    bell.ring()
    after = [listener.acquire(timeout=DEADLINE) for listener in listeners]

    assert before == [False, False]
    assert after == [True, True]


def test_each_ring_is_for_those_who_listen_then() -> None:
    """A second ring does not trouble those of the first, and wakes those who came since."""
    bell = Bell()
    first = bell.listen()
    bell.ring()

    second = bell.listen()
    early = second.acquire(blocking=False)
    bell.ring()

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


def test_a_thread_that_cannot_be_started_is_told() -> None:
    """An error that no interrupt caused stays what it is."""
    with pytest.raises(RuntimeError, match="can't start new thread"):
        start_thread(Unlucky(None))
