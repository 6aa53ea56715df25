"""Expectations about an envelope, and their failures."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.expect_envelope import EnvelopeAssertions
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    ExpectationError,
)
from pytest_clawperator.execution.result import RunResult
from tests.doubles.envelopes import envelope, envelope_of

Hold = Callable[[EnvelopeAssertions], None]


def test_a_failure_lists_every_step_and_what_to_do() -> None:
    """A failure lists the steps, and the hint for the code of the envelope."""
    with pytest.raises(ExpectationError) as caught:
        Expect()(envelope(is_failed=True), "the shop opens").to_have_succeeded()

    lines = str(caught.value).split("\n")

    assert lines[0].startswith("EXPECTATION_FAILED: the shop opens: expected the envelope of")
    assert lines[1:4] == [
        "  steps:",
        '    1. step "open" (open_app) succeeded',
        '    2. step "tap" (click) failed: NODE_NOT_FOUND: nothing there',
    ]
    assert lines[4].startswith("  hint: Take a snapshot")


def test_a_failure_begins_with_the_serial() -> None:
    """The failure of a run begins with the serial, like every error about a device."""
    run = RunResult.of(envelope(is_failed=True), serial="phone-1", elapsed=0.1)

    with pytest.raises(ExpectationError, match=r"^\[phone-1\] EXPECTATION_FAILED: "):
        Expect()(run).to_have_succeeded()


def test_a_plain_assert_shows_the_failed_step() -> None:
    """The repr of an envelope is short and names the step that failed."""
    shown = repr(RunResult.of(envelope(is_failed=True), serial="phone-1", elapsed=0.1))

    assert shown == (
        '<RunResult failed: step "tap" (click) failed: NODE_NOT_FOUND, "nothing there"; 2 steps>'
    )
    assert repr(envelope()) == "<ResultEnvelope success, 2 steps>"


TRUE: list[tuple[bool, str, tuple[Any, ...], dict[str, Any]]] = [
    (False, "to_have_succeeded", (), {}),
    (True, "to_have_failed", (), {}),
    (True, "to_have_failed", (), {"code": "NODE_NOT_FOUND"}),
    (True, "to_have_failed", (), {"code": ErrorCode.NODE_NOT_FOUND}),
    (False, "to_have_step", ("open",), {}),
    (True, "to_have_step", ("tap",), {"success": False, "code": "NODE_NOT_FOUND"}),
    (True, "to_have_step", ("open",), {"action_type": "open_app", "success": True}),
    (False, "to_have_data", ("open",), {"app": "shop 2.4"}),
    (False, "to_have_data", ("open",), {"app": re.compile("^shop")}),
    (False, "to_have_data", ("open",), {"app": ...}),
]


FALSE: list[tuple[bool, str, tuple[Any, ...], dict[str, Any], str]] = [
    (True, "to_have_succeeded", (), {}, "found NODE_NOT_FOUND: Step tap (click) failed"),
    (False, "to_have_failed", (), {}, "to have failed, found success"),
    (True, "to_have_failed", (), {"code": "X"}, "to have failed with X, found NODE_NOT_FOUND"),
    (False, "to_have_step", ("opn",), {}, 'to have step "opn", found no step "opn"'),
    (False, "to_have_step", ("tap",), {"success": False}, "that failed, found step"),
    (False, "to_have_step", ("tap",), {"action_type": "scroll"}, '"tap" (scroll), found step'),
    (False, "to_have_data", ("open",), {"app": "x"}, 'data app="x", found app="shop 2.4"'),
    (False, "to_have_data", ("open",), {"other": ...}, "data other=..., found no other"),
]


@pytest.mark.parametrize(("is_failed", "check", "args", "options"), TRUE)
def test_a_check_that_holds_passes_and_its_opposite_fails(
    is_failed: bool, check: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """A check passes if it is so, and then its opposite fails."""
    expected = Expect()(envelope(is_failed=is_failed))

    getattr(expected, check)(*args, **options)
    with pytest.raises(ExpectationError, match='expected the envelope of "cmd-1" not to have'):
        getattr(expected, f"not_{check}")(*args, **options)


@pytest.mark.parametrize(("is_failed", "check", "args", "options", "found"), FALSE)
def test_a_check_that_does_not_hold_fails_and_its_opposite_passes(
    is_failed: bool, check: str, args: tuple[Any, ...], options: dict[str, Any], found: str
) -> None:
    """A check fails if it is not so, and names what was found; then its opposite passes."""
    expected = Expect()(envelope(is_failed=is_failed))

    with pytest.raises(ExpectationError) as caught:
        getattr(expected, check)(*args, **options)
    getattr(expected, f"not_{check}")(*args, **options)

    assert found in str(caught.value).split("\n")[0]


@pytest.mark.parametrize(
    ("hold", "error", "message"),
    [
        (lambda e: e.to_have_step("opne"), ExpectationError, 'hint: Did you mean "open"'),
        (lambda e: e.not_to_have_data("nope", app="x"), ExpectationError, 'found no step "nope"'),
        (lambda e: e.to_have_data("open", package=...), ExpectationError,
         "hint: The step has these data: app"),
        # What could never match is a mistake of the test.
        (lambda e: e.not_to_have_step(1), ConfigurationError, "named by the id"),
        (lambda e: e.not_to_have_step("tap", success="yes"), ConfigurationError,
         "success= must be True or False"),
        (lambda e: e.not_to_have_step("tap", code="NODE_NOT_FOUNT"), ConfigurationError,
         "Did you mean NODE_NOT_FOUND"),
        (lambda e: e.to_have_data("open", window_count=2), ConfigurationError,
         'Write window_count="2"'),
        (lambda e: e.to_have_data("open"), ConfigurationError, "no data are expected"),
        (lambda e: e.not_to_have_data("open"), ConfigurationError, "no data are expected"),
        (lambda e: e.not_to_have_data("open", app=re.compile(".*")), ConfigurationError,
         "found in every text"),
        (lambda e: e.not_to_have_step("tap", action_type="clik"), ConfigurationError,
         "Did you mean click"),
        (lambda e: e.not_to_have_step("tap", action_type="tap"), ConfigurationError,
         "Did you mean click"),
        (lambda e: e.not_to_have_step("tap", action_type=""), ConfigurationError,
         "must be the type of an action"),
        (lambda e: e.not_to_have_step("tap", success=True, code="NODE_NOT_FOUND"),
         ConfigurationError, "a step that succeeded has no code"),
        (lambda e: e.not_to_have_failed(code=""), ConfigurationError, "must be an error code"),
        (lambda e: e.not_to_have_failed(code=True), ConfigurationError, "must be an error code"),
        (lambda e: e.not_to_have_failed(code="gone"), ConfigurationError, "must be an error code"),
        (lambda e: e.not_to_have_failed(code="app_not_found"), ConfigurationError,
         "Did you mean APP_NOT_FOUND"),
        (lambda e: e.not_to_have_step(" "), ConfigurationError, "named by the id"),
    ],
)  # fmt: skip
def test_a_mistake_has_a_way_out(hold: Hold, error: type[Exception], message: str) -> None:
    """The nearest id, the keys of the step, how to write a value."""
    with pytest.raises(error, match=message):
        hold(Expect()(envelope()))


def test_action_at_which_it_stopped_is_a_failed_step() -> None:
    """The action at which an execution stopped is a failed step, though its result was dropped."""
    stopped = Action(id="gone", type="click")
    result = RunResult.model_construct(
        None,
        command_id="c",
        task_id="t",
        status="failed",
        steps=(),
        error="NODE_NOT_FOUND",
        serial="phone-1",
        elapsed=0.0,
        stopped_at=stopped,
    )

    Expect()(result).to_have_step("gone", success=False, code=result.code)
    with pytest.raises(ExpectationError, match="drop the results"):
        Expect()(result).to_have_step("other")


def test_every_failed_step_counts() -> None:
    """A code is looked for in all failures, and what has none may be any."""
    several = envelope_of(("a", "NODE_NOT_FOUND"), ("b", "GESTURE_FAILED"), ("c", None))
    coded = Expect()(envelope_of(("a", "NODE_NOT_FOUND"), ("b", "")))
    every = Expect()(several)

    for code in ("NODE_NOT_FOUND", "GESTURE_FAILED"):
        every.to_have_failed(code=code)
        with pytest.raises(ExpectationError, match=r"NODE_NOT_FOUND.*, and GESTURE_FAILED"):
            every.not_to_have_failed(code=code)
    every.not_to_have_failed(code="APP_NOT_FOUND")
    for check in (coded.to_have_failed, coded.not_to_have_failed):
        with pytest.raises(ExpectationError, match="and a failure without a code"):
            check(code="APP_NOT_FOUND")


def test_steps_with_one_id_are_judged_together() -> None:
    """If they differ, neither a check nor its opposite holds."""
    same = Expect()(envelope_of(("a", None), ("a", None)))
    mixed = Expect()(envelope_of(("a", None), ("a", "NODE_NOT_FOUND")))

    same.to_have_step("a", success=True)
    same.not_to_have_step("a", success=False)
    for check in (mixed.to_have_step, mixed.not_to_have_step):
        for success in (True, False):
            with pytest.raises(ExpectationError, match='found 2 steps "a" that differ'):
                check("a", success=success)
    for data in (mixed.to_have_data, mixed.not_to_have_data):
        with pytest.raises(ExpectationError, match="that differ: no error; error="):
            data("a", error="NODE_NOT_FOUND")


@pytest.mark.parametrize(
    ("steps", "about", "reason"),
    [
        ([], {}, "RESULT_ENVELOPE_MALFORMED: the envelope reports success and has no step results"),
        ([("a", None)], {"error": "No UI node found"}, "NODE_NOT_FOUND: No UI node found"),
        ([("a", None)], {"errorCode": "GESTURE_FAILED"}, "GESTURE_FAILED"),
    ],
)
def test_a_success_that_contradicts_itself_is_none(
    steps: list[tuple[str, str | None]], about: dict[str, str], reason: str
) -> None:
    """What reports success beside an error, or without any step, has not succeeded."""
    odd = envelope_of(*steps, status="success", **about)

    with pytest.raises(ExpectationError, match=re.escape(reason)):
        Expect()(odd).to_have_succeeded()
    Expect()(odd).to_have_failed()
    assert not odd
    with pytest.raises(ClawperatorError, match=re.escape(reason)):
        odd.raise_for_status()
