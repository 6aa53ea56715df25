"""One expectation: verify a check within its time, and raise or collect the failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_clawperator.assertions import soft
from pytest_clawperator.assertions.checks import Check
from pytest_clawperator.assertions.failure import Failure, calling_frame, described, traceback_to
from pytest_clawperator.assertions.wait import (
    Clock,
    Entry,
    Outcome,
    ScreenSource,
    no_doubt,
    watch,
)
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ExpectationError,
    SnapshotError,
)

__tracebackhide__ = True  # a failure is shown at the test's own line
T = TypeVar("T")


@dataclass(frozen=True)
class ExpectSettings:
    """What applies to all expectations.

    Without ``timeout`` the client's applies. ``linger`` is how many seconds to keep checking
    after a failure, to report whether the check passed late.
    """

    timeout: float | None = None
    linger: float = 1.0
    clock: Clock = field(default_factory=Clock)


@dataclass(frozen=True)
class Expectation:
    """What an expectation has besides its subject: settings, message, and whether it is soft."""

    settings: ExpectSettings
    message: str | None = None
    is_soft: bool = False

    def verify(
        self,
        check: Check[T],
        look: Callable[[], T],
        explain: Callable[[Check[T], Outcome[T]], ExpectationError],
        *,
        about: Failure,
        screen: ScreenSource | None = None,
        timeout: float = 0.0,
    ) -> None:
        """Wait until the check holds; if it does not in time, fail with the explanation.

        ``about`` names the subject and the device. ``screen`` is where it looks: a check that
        holds because nothing is there does not count if the app is gone.
        """
        settings = self.settings
        title = f"expect {about.subject} {check.wanted}"
        verification = Verification(title=title, serial=about.serial)
        _notify(verification)
        try:
            outcome = watch(
                look,
                check.judge,
                doubt=no_doubt if screen is None else partial(screen.doubt, check),
                timeout=timeout,
                linger=settings.linger,
                clock=settings.clock,
            )
            verification.log = outcome.log
            if not outcome.holds:
                verification.error = _with_cause(explain(check, outcome), outcome)
                if not self.is_soft:
                    raise verification.error
                soft.collect(verification.error)
        except ClawperatorError as error:
            verification.error = error
            raise
        finally:
            verification.seconds = time.monotonic() - verification.begun
            verification.is_over = True
            _notify(verification)


def _with_cause(error: ExpectationError, outcome: Outcome[T]) -> ExpectationError | SnapshotError:
    """Add the reason if no snapshot succeeded; an unreadable screen is not the app's failure."""
    cause = outcome.error
    if outcome.seen is not None or not isinstance(cause, ClawperatorError):
        return error
    kind = SnapshotError if isinstance(cause, SnapshotError) else ExpectationError
    return kind(
        error.message,
        code=cause.code,
        serial=error.serial or cause.serial,
        hint=cause.advice or error.advice,
        details={**error.details, "cause": str(cause)},
    )


# Listeners


@dataclass(kw_only=True, eq=False)
class Verification:
    """An expectation that is being verified; what is known only at its end is added then.

    ``log`` lists its snapshots, ``error`` is why it failed.
    """

    title: str
    serial: str | None = None
    at: float = field(default_factory=time.time)
    begun: float = field(default_factory=time.monotonic)
    log: tuple[Entry, ...] = ()
    seconds: float = 0.0
    error: ExpectationError | ClawperatorError | None = None
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


def _notify(verification: Verification) -> None:
    for listener in tuple(_listeners):
        listener(verification)


# Expectations without a check


class Unstated:
    """The expectations that were begun, and are still without a check."""

    def __init__(self) -> None:
        self._begun: dict[int, tuple[Expectation, str, TracebackType | None]] = {}

    def add(self, expectation: Expectation) -> None:
        """Keep an expectation, with the line that began it."""
        frame = calling_frame()
        # The object is kept, too, so that no other gets its id.
        self._begun[id(expectation)] = (expectation, described(frame), traceback_to(frame))

    def remove(self, expectation: Expectation) -> None:
        """Forget an expectation that has its check."""
        self._begun.pop(id(expectation), None)

    def clear(self) -> None:
        """Forget all."""
        self._begun.clear()

    @property
    def error(self) -> ConfigurationError | None:
        """The error for the first that is left, or None."""
        for _, where, traceback in self._begun.values():
            error = ConfigurationError(
                f"nothing was expected: {where}",
                hint="expect(...) alone checks nothing. Call a check, with its parentheses: "
                "expect(...).to_be_visible()",
            )
            return error.with_traceback(traceback)
        return None


# The innermost is the current one; a run inside a test has its own.
_scopes: list[Unstated] = []


@contextmanager
def watching(unstated: Unstated | None = None) -> Iterator[Unstated]:
    """Watch for expectations without a check within the block; continue an earlier watch."""
    unstated = Unstated() if unstated is None else unstated
    _scopes.append(unstated)
    try:
        yield unstated
    finally:
        _scopes.remove(unstated)


def require_check(expectation: Expectation) -> None:
    """Take note of an expectation, whose check must follow."""
    if _scopes:
        _scopes[-1].add(expectation)


_CHECKS = ("to_", "not_to_")


class Stating:
    """What has checks: one that was named must be called, whatever comes of it."""

    _expectation: Expectation

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, check in list(vars(cls).items()):
            if name.startswith(_CHECKS):
                setattr(cls, name, _stating(check))

    if not TYPE_CHECKING:  # type checkers would conclude that every attribute exists

        def __getattribute__(self, name: str) -> Any:
            found = super().__getattribute__(name)
            if name.startswith(_CHECKS):
                require_check(self._expectation)
            return found

    def _state(self) -> None:
        """Take note that something was expected."""
        for scope in _scopes:
            scope.remove(self._expectation)


def _stating(check: Callable[..., None]) -> Callable[..., None]:
    @wraps(check)
    def stated(self: Stating, *args: Any, **options: Any) -> None:
        self._state()
        check(self, *args, **options)

    return stated
