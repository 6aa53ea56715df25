"""Waiting for another thread, in a way that Ctrl-C may end at any moment.

Python's conditions and events take their lock in Python code. An interrupt there leaves the
lock taken for good, or comes out as a ``RuntimeError`` about a lock that is not taken. A plain
lock in a ``with`` has no such moment; what it lacks is a way to wait for a change.
"""

from __future__ import annotations

import threading


class Bell:
    """Wakes all who listen. Not locked: whoever shares one has to, for both methods."""

    def __init__(self) -> None:
        self._listeners: list[threading.Lock] = []

    def listen(self) -> threading.Lock:
        """Give a lock that can be acquired once it rang; do so when the bell is unlocked."""
        listener = threading.Lock()
        listener.acquire()
        self._listeners.append(listener)
        return listener

    def ring(self) -> None:
        """Wake those who listen; whoever gave up is forgotten."""
        while self._listeners:
            self._listeners.pop().release()


def start_thread(thread: threading.Thread) -> None:
    """Start a thread; an interrupt meanwhile is an interrupt, whatever `Thread` makes of it."""
    try:
        thread.start()
    except RuntimeError as error:
        # It waits for the thread with an event.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
