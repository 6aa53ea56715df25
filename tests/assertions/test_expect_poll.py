"""Expectations about the value of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.expectation import watching
from pytest_clawperator.errors import ConfigurationError, ExpectationError, TransportError
from tests.doubles.clock import FakeTime
from tests.doubles.envelopes import envelope
from tests.doubles.runner import Phone, client


def numbers() -> Callable[[], int]:
    """Return a function that counts."""
    every: Iterator[int] = iter(range(1_000))
    return lambda: next(every)


def test_a_function_is_called_until_its_value_fits(expect: Expect) -> None:
    """A function is called until it returns what is expected."""
    count = numbers()

    expect.poll(count).to_equal(3)

    assert count() == 4


def test_every_check_of_a_value_has_its_opposite(expect: Expect) -> None:
    """Each check has its opposite."""
    expect.poll(numbers()).not_to_equal(0)
    expect.poll(numbers()).to_be_truthy()
    expect.poll(iter([1, 1, 0]).__next__).not_to_be_truthy()
    expect.poll(numbers()).to_pass()
    with pytest.raises(ExpectationError, match="not to pass, found it passing"):
        expect.poll(lambda: 1).not_to_pass()


def test_a_failure_names_function_value_and_log(expect: Expect) -> None:
    """A failure names the function, its value, and the number of calls."""

    def total() -> int:
        return 3

    with pytest.raises(ExpectationError) as caught:
        expect.poll(total, "the cart").to_equal(4, timeout=0.04)

    assert str(caught.value).split("\n")[:2] == [
        "EXPECTATION_FAILED: the cart: expected total() to equal 4, found 3",
        "  waited: 3 × 3 in 40 ms",
    ]


def test_a_failed_assertion_is_tried_again(expect: Expect) -> None:
    """If an assertion fails in the function, it is called again; the last one is shown."""
    count = numbers()

    def check() -> None:
        found = count()
        assert found >= 3, "too few"

    def never() -> None:
        raise AssertionError("first\nsecond")

    expect.poll(check).to_pass()
    with pytest.raises(ExpectationError) as caught:
        expect.poll(never).to_pass(timeout=0)

    assert "expected never() to pass, found AssertionError: first" in str(caught.value)
    assert "\n  its message:\n    first\n    second" in str(caught.value)


@pytest.mark.parametrize("error", [TransportError("gone"), KeyError("typo")])
def test_other_errors_are_raised(expect: Expect, error: Exception) -> None:
    """Any other error of the function is raised unchanged."""

    def fail() -> int:
        raise error

    with pytest.raises(type(error)) as caught:
        expect.poll(fail).to_equal(1)

    assert caught.value is error


def test_the_nearest_timeout_applies() -> None:
    """The check's timeout comes first, then that of poll(), then the one that was set."""
    time = FakeTime()
    expect = Expect(clock=time.clock)
    expect.configure(linger=0)
    expect.set_timeout(4)
    spent = []

    for poll_timeout, check_timeout in [(None, None), (2.0, None), (2.0, 1.0)]:
        start = time.now
        with pytest.raises(ExpectationError):
            expect.poll(lambda: 0, timeout=poll_timeout).to_be_truthy(timeout=check_timeout)
        spent.append(time.now - start)

    assert spent == pytest.approx([4.0, 2.0, 1.0])


def test_a_value_instead_of_a_function_is_refused(expect: Expect) -> None:
    """The error for a value that cannot be called has an example."""
    with pytest.raises(ConfigurationError, match="takes a function to call, found 3"):
        expect.poll(3)  # type: ignore[arg-type]


async def later() -> bool:
    """Return something that must be awaited."""
    return False


def one_by_one() -> Iterator[bool]:
    """Return something that must be gone through."""
    yield False


LOCATOR = client(Phone()).node(text="x")


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (later, r"later\(\) returned a coroutine"),
        (one_by_one, r"one_by_one\(\) returned a generator"),
        (lambda: "abc".isdigit, "the polled value returned a function, which nothing calls"),
        (lambda: one_by_one, "a function, which nothing calls"),
        (lambda: LOCATOR, "a locator, which is only a description"),
        (lambda: Expect()(LOCATOR), "an expectation without its check"),
    ],
)
@pytest.mark.parametrize("check", ["to_be_truthy", "not_to_be_truthy", "to_pass", "not_to_pass"])
def test_what_has_not_done_its_work_is_refused(
    expect: Expect, function: Callable[[], object], found: str, check: str
) -> None:
    """It is true in an if, whatever it would return, and no assertion in it ever fails."""
    with watching(), pytest.raises(ConfigurationError, match=found):
        getattr(expect.poll(function), check)()


@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_no_assertion(expect: Expect, value: bool) -> None:
    """to_pass() would hold for a function that returns False."""
    for check in (expect.poll(lambda: value).to_pass, expect.poll(lambda: value).not_to_pass):
        with pytest.raises(ConfigurationError, match=r"Write to_be_truthy\(\)"):
            check()


def test_a_failed_envelope_does_not_pass(expect: Expect) -> None:
    """execute() returns a failure, and does not raise it."""
    expect.poll(lambda: envelope()).to_pass()
    with pytest.raises(ExpectationError, match="to pass, found <ResultEnvelope failed"):
        expect.poll(lambda: envelope(is_failed=True)).to_pass(timeout=0)


def test_what_equals_nothing_is_refused(expect: Expect) -> None:
    """NaN is not equal to itself, so not_to_equal() would always hold."""
    with pytest.raises(ConfigurationError, match="nothing equals NaN"):
        expect.poll(lambda: 1.0).not_to_equal(float("nan"))


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), 1e9, True, "5"])
def test_a_wrong_timeout_is_refused(expect: Expect, timeout: Any) -> None:
    """Wherever it is given; one in the place of the message is noticed."""
    with pytest.raises(ConfigurationError, match="timeout="):
        expect.poll(lambda: 1, timeout=timeout).to_equal(1)
    with pytest.raises(ConfigurationError, match="timeout="):
        expect.poll(lambda: 1).not_to_equal(2, timeout=timeout)
    with pytest.raises(ConfigurationError, match="the message of an expectation is a text"):
        expect.poll(lambda: 1, 10)  # type: ignore[arg-type]  # the point


@pytest.mark.parametrize(
    ("wanted", "given", "message"),
    [
        (list(range(50)), [*range(49), 7], "from index 49 on: wanted 49, found 7"),
        ("x" * 200 + "a", "x" * 200 + "b", "from character 201 on"),
        ("Pay", "P\u0430y", "U\\+0430 CYRILLIC SMALL LETTER A"),
    ],
)
def test_similar_values_are_distinguished(wanted: object, given: object, message: str) -> None:
    """If the short forms look the same, the first difference is named."""
    with pytest.raises(ExpectationError, match=message):
        Expect().poll(lambda: given, timeout=0).to_equal(wanted)
