"""Who is told of expectations: when one begins, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pytest_clawperator.assertions.wait_loop import Entry
from pytest_clawperator.errors import ClawperatorError, ExpectationError


@dataclass(kw_only=True, eq=False)
class Verification:
    """An expectation that is being verified; what is known only at its end is added then.

    ``log`` are its looks at the screen, ``error`` is why it failed.
    """

    title: str
    serial: str | None = None
    at: float = field(default_factory=time.time)
    begun: float = field(default_factory=time.monotonic)
    log: tuple[Entry, ...] = ()
    seconds: float = 0.0
    error: ClawperatorError | ExpectationError | None = None
    is_over: bool = False


Listener = Callable[[Verification], None]

_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a function at the beginning and at the end of every expectation in the block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def begin(title: str, *, serial: str | None) -> Verification:
    """Tell the listeners of an expectation that is about to be verified."""
    verification = Verification(title=title, serial=serial)
    _tell(verification)
    return verification


def end(verification: Verification) -> None:
    """Tell the listeners that it is over."""
    verification.seconds = time.monotonic() - verification.begun
    verification.is_over = True
    _tell(verification)


def _tell(verification: Verification) -> None:
    for listener in tuple(_listeners):
        listener(verification)
