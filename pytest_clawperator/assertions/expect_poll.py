"""``expect.poll(function)``: expectations about the value of a function, called repeatedly."""

from __future__ import annotations

import inspect
import math
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pytest_clawperator.assertions import text_match
from pytest_clawperator.assertions.checks import Check, Verdict
from pytest_clawperator.assertions.expectation import Expectation, Stating
from pytest_clawperator.assertions.failure import Failure
from pytest_clawperator.assertions.wait import Outcome, may_succeed_later
from pytest_clawperator.client.target import LocatorBase
from pytest_clawperator.client.timing import timeout_of
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.errors import ConfigurationError, ExpectationError

__tracebackhide__ = True  # a failure is shown at the test's own line
T = TypeVar("T")
DEFAULT_TIMEOUT = 5.0
_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 80


@dataclass(frozen=True)
class Called(Generic[T]):
    """The result of a call: a value, or the assertion that failed in it."""

    value: T | None = None
    error: AssertionError | None = None


class PollAssertions(Stating, HintsAtNames, Generic[T]):
    """What can be expected of the value of a function.

    If an assertion fails in the function, it is called again; any other error is raised.
    """

    _own_word = "expect.poll(...)"
    _their_names = foreign_names.EXPECT_POLL

    def __init__(
        self, function: Callable[[], T], expectation: Expectation, *, timeout: float | None = None
    ) -> None:
        if not callable(function):
            raise ConfigurationError(
                f"expect.poll() takes a function to call, found {_brief.repr(function)}",
                hint="Write expect.poll(lambda: claw.device.current_package()).to_equal(...).",
            )
        self._function = function
        self._expectation = expectation
        self._timeout = timeout

        self._name = _name_of(function)

    def to_equal(self, expected: T, /, *, timeout: float | None = None) -> None:
        """Expect it to return this."""
        self._verify(_equals(expected), timeout)

    def not_to_equal(self, expected: T, /, *, timeout: float | None = None) -> None:
        """Expect it to return something else."""
        self._verify(_equals(expected).negated(), timeout)

    def to_be_truthy(self, *, timeout: float | None = None) -> None:
        """Expect it to return a value that is true in an ``if``."""
        self._verify(_TRUTHY, timeout)

    def not_to_be_truthy(self, *, timeout: float | None = None) -> None:
        """Expect it to return a value that is false in an ``if``."""
        self._verify(_TRUTHY.negated(), timeout)

    def to_pass(self, *, timeout: float | None = None) -> None:
        """Expect no assertion in it to fail."""
        self._verify(_PASSES, timeout)

    def not_to_pass(self, *, timeout: float | None = None) -> None:
        """Expect an assertion in it to fail."""
        self._verify(_PASSES.negated(), timeout)

    def _verify(self, check: Check[Called[Any]], timeout: float | None) -> None:
        given = self._timeout if timeout is None else timeout
        default = self._expectation.settings.timeout
        seconds = timeout_of(given, DEFAULT_TIMEOUT if default is None else default)
        self._expectation.verify(
            check, self._call, self._explain, about=self._failure, timeout=seconds
        )

    def _call(self) -> Called[Any]:
        try:
            value = self._function()
        except AssertionError as error:
            if not may_succeed_later(error):
                raise
            return Called(error=error)
        _refuse_unfinished(value, self._name)
        return Called(value)

    def _explain(
        self, check: Check[Called[Any]], outcome: Outcome[Called[Any]]
    ) -> ExpectationError:
        error = None if outcome.seen is None else outcome.seen.error
        lines = str(error).split("\n") if error is not None else []
        evidence = ["its message:", *(f"  {line}" for line in lines)] if len(lines) > 1 else []
        return self._failure.error(check, outcome, evidence=evidence)

    @property
    def _failure(self) -> Failure:
        return Failure(self._name, self._expectation.message)


def _name_of(function: Callable[[], Any]) -> str:
    name = getattr(function, "__name__", "<lambda>")
    return "the polled value" if name == "<lambda>" else f"{name}()"


# What a function returns that has not done its work yet, and what to do about it.
_UNFINISHED: tuple[tuple[Callable[[Any], bool], str, str], ...] = (
    (inspect.isawaitable, "a coroutine, which nothing awaits",
     "Give a function that is not async; asyncio.run() in it awaits one that is."),
    (inspect.isgenerator, "a generator, which nothing goes through",
     "Return a value in place of yield, or a list of the values."),
    (inspect.isasyncgen, "a generator, which nothing goes through",
     "Return a value in place of yield, or a list of the values."),
    (inspect.isroutine, "a function, which nothing calls",
     "Call it, with its parentheses: expect.poll(lambda: claw.device.current_package())."),
    (lambda value: isinstance(value, Stating), "an expectation without its check",
     "Call the check in the function, and expect it to_pass()."),
    (lambda value: isinstance(value, LocatorBase), "a locator, which is only a description",
     "Call what is wanted of it, as in claw.node(...).count(), or write expect(claw.node(...))."),
)  # fmt: skip


def _refuse_unfinished(value: Any, name: str) -> None:
    for is_so, found, hint in _UNFINISHED:
        if is_so(value):
            if inspect.iscoroutine(value):
                value.close()  # or Python warns that it was never awaited
            raise ConfigurationError(f"{name} returned {found}", hint=hint)


def _failed(called: Called[Any]) -> str:
    """Describe in one line which assertion failed."""
    error = called.error
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}"[:200].removesuffix(": ")


def _difference(expected: object, found: object) -> str | None:
    """Describe where two values differ, if their short forms do not show it."""
    if isinstance(expected, str) and isinstance(found, str):
        return text_match.difference(expected, found)
    if not isinstance(expected, (list, tuple)) or type(expected) is not type(found):
        return None
    others: Sequence[Any] = found
    pairs = enumerate(zip(expected, others, strict=False))
    at = next((n for n, (a, b) in pairs if a != b), min(len(expected), len(others)))
    here, there = (
        _brief.repr(every[at]) if at < len(every) else "no more" for every in (expected, others)
    )
    if at == len(expected) == len(others):
        return None
    return f"They differ from index {at} on: wanted {here}, found {there}."


def _equals(expected: object) -> Check[Called[Any]]:
    if isinstance(expected, float) and math.isnan(expected):
        raise ConfigurationError(
            "nothing equals NaN, not even NaN", hint="Poll math.isnan(...), to_be_truthy()."
        )

    def judge(called: Called[Any]) -> Verdict:
        if called.error is not None:
            return Verdict(None, _failed(called))
        shown = _brief.repr(called.value)
        return Verdict(bool(called.value == expected), shown, _difference(expected, called.value))

    return Check(f"to equal {_brief.repr(expected)}", judge)


def _truthy(called: Called[Any]) -> Verdict:
    if called.error is not None:
        return Verdict(None, _failed(called))
    return Verdict(bool(called.value), _brief.repr(called.value))


_TRUTHY = Check("to be truthy", _truthy)


def _passes(called: Called[Any]) -> Verdict:
    if called.error is not None:
        return Verdict(False, _failed(called))
    value = called.value
    if isinstance(value, bool):
        raise ConfigurationError(
            f"to_pass() is about assertions, and the function returned {value}",
            hint="Write to_be_truthy(), or assert the value in the function.",
        )
    if isinstance(value, ResultEnvelope) and not value.ok:
        return Verdict(False, _brief.repr(value))
    return Verdict(True, "it passing")


_PASSES = Check("to pass", _passes)
