"""The checks of an envelope: what holds, and what does not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExpectationError,
)
from pytest_clawperator.execution.result import RunResult
from tests.doubles.envelopes import envelope

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
def test_what_is_so_holds(
    is_failed: bool, check: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """A check passes where it is so, and its twin fails there."""
    expected = Expect()(envelope(is_failed=is_failed))

    getattr(expected, check)(*args, **options)
    with pytest.raises(ExpectationError, match='expected the envelope of "cmd-1" not to have'):
        getattr(expected, f"not_{check}")(*args, **options)


@pytest.mark.parametrize(("is_failed", "check", "args", "options", "found"), FALSE)
def test_what_is_not_so_fails(
    is_failed: bool, check: str, args: tuple[Any, ...], options: dict[str, Any], found: str
) -> None:
    """A check fails where it is not so, and says what is; its twin passes there."""
    expected = Expect()(envelope(is_failed=is_failed))

    with pytest.raises(ExpectationError) as caught:
        getattr(expected, check)(*args, **options)
    getattr(expected, f"not_{check}")(*args, **options)

    assert found in str(caught.value).split("\n")[0]


def test_mistyped_step_is_guessed() -> None:
    """A step that is not there is told with the one that was probably meant."""
    with pytest.raises(ExpectationError, match='hint: Did you mean "open"'):
        Expect()(envelope()).to_have_step("opne")


def test_data_of_a_missing_step_cannot_be_told() -> None:
    """Neither data nor their absence can be expected of a step that is not there."""
    with pytest.raises(ExpectationError, match='found no step "nope"'):
        Expect()(envelope()).not_to_have_data("nope", app="x")


def test_missing_data_name_those_that_are_there() -> None:
    """A key that the step does not have is told with those that it has."""
    with pytest.raises(ExpectationError, match="hint: The step has these data: app"):
        Expect()(envelope()).to_have_data("open", package=...)


def test_data_must_be_texts() -> None:
    """Step data are texts, so a number would never fit."""
    with pytest.raises(ConfigurationError, match="data are texts"):
        Expect()(envelope()).to_have_data("open", app=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "options", "told"),
    [
        ((1,), {}, "named by the id"),
        (("tap",), {"success": "yes"}, "success= must be True or False"),
        (("tap",), {"code": "NODE_NOT_FOUNT"}, "Did you mean NODE_NOT_FOUND"),
    ],
)
def test_nonsense_is_refused(args: tuple[Any, ...], options: dict[str, Any], told: str) -> None:
    """What can never be so is a mistake of the test."""
    with pytest.raises(ConfigurationError, match=told):
        Expect()(envelope()).not_to_have_step(*args, **options)


def test_numbers_are_written_as_texts() -> None:
    """Data are texts, and whoever gives a number is told how to write it."""
    with pytest.raises(ConfigurationError, match='Write window_count="2"'):
        Expect()(envelope()).to_have_data("open", window_count=2)  # type: ignore[arg-type]


def test_action_at_which_it_stopped_is_a_failed_step() -> None:
    """Where the Operator drops the results, the action that failed is known all the same."""
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
