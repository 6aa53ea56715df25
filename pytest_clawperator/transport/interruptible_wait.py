"""Waiting for another thread, in a way that Ctrl-C may end at any moment.

Python's conditions and events take their lock in Python code. An interrupt there leaves the
lock taken for good, or comes out as a ``RuntimeError`` about a lock that is not taken. A plain
lock in a ``with`` has no such moment; what it lacks is a way to wait for a change.
"""

from __future__ import annotations

import threading


class Wakeup:
    """Wakes all who wait. Not locked: threads that share one hold a lock for both methods."""

    def __init__(self) -> None:
        self._waiters: list[threading.Lock] = []

    def waiter(self) -> threading.Lock:
        """Return a lock that can be acquired after the next ``wake_all``.

        Acquire it only after releasing the lock that guards this object.
        """
        waiter = threading.Lock()
        waiter.acquire()
        self._waiters.append(waiter)
        return waiter

    def wake_all(self) -> None:
        """Wake those who wait; those who gave up are forgotten."""
        while self._waiters:
            self._waiters.pop().release()


def start_thread(thread: threading.Thread) -> None:
    """Start a thread; an interrupt meanwhile comes out as ``KeyboardInterrupt``."""
    try:
        thread.start()
    except RuntimeError as error:
        # `Thread.start` waits for the thread with an event.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
