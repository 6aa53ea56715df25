"""``expect(...)`` without a check: nothing would be expected, and the test would pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import TracebackType
from typing import Any

from pytest_clawperator.assertions.call_site import calling_frame, described, traceback_to
from pytest_clawperator.assertions.expectation import Expectation
from pytest_clawperator.errors import ConfigurationError

__tracebackhide__ = True  # a failure is shown at the test's own line


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
def watching() -> Iterator[Unstated]:
    """Watch for expectations without a check within the block."""
    unstated = Unstated()
    _scopes.append(unstated)
    try:
        yield unstated
    finally:
        _scopes.remove(unstated)


def begin(expectation: Expectation) -> None:
    """Take note of an expectation, whose check must follow."""
    if _scopes:
        _scopes[-1].add(expectation)


class Stating:
    """What has checks, each of which takes note that it was called, whatever comes of it."""

    _expectation: Expectation

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, check in list(vars(cls).items()):
            if name.startswith(("to_", "not_to_")):
                setattr(cls, name, _stating(check))


def _stating(check: Callable[..., None]) -> Callable[..., None]:
    @wraps(check)
    def stated(self: Stating, *args: Any, **options: Any) -> None:
        for scope in _scopes:
            scope.remove(self._expectation)
        check(self, *args, **options)

    return stated
