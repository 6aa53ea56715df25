"""The public API as a user's type checker sees it; this file is checked, never run."""

from __future__ import annotations

from typing_extensions import assert_type

from pytest_clawperator import (
    Action,
    Click,
    ErrorCode,
    Execution,
    ExecutionValidationError,
    NodeMatcher,
    NodeNotFoundError,
    OpenApp,
    Problem,
    ResultEnvelope,
    Retry,
    Sleep,
    StepResult,
    complete_execution,
    parse_result_message,
    validate_execution,
)


def payloads(text: str, raw: bytes) -> None:
    """Payloads in all their forms."""
    assert_type(validate_execution({"actions": []}), Execution)
    assert_type(validate_execution(text), Execution)
    assert_type(validate_execution(raw), Execution)
    execution = complete_execution(
        [
            OpenApp("com.example", retry=Retry(max_attempts=2, initial_delay=0.5)),
            Click(NodeMatcher.of(text="OK"), click_type="long_click"),
            Click({"textEquals": "OK"}),
            Click(coordinate=(1, 2), id="tap"),
            {"type": "snapshot"},
            Sleep(0.5),
        ]
    )
    assert_type(execution.actions, tuple[Action, ...])
    assert_type(execution.command_id, str)
    assert_type(execution.timeout_ms, float)
    assert_type(execution.to_json(), str)


def refusals() -> None:
    """Errors and what they carry."""
    try:
        validate_execution("{}")
    except ExecutionValidationError as error:
        assert_type(error.problems, tuple[Problem, ...])
        assert_type(error.path, str)
        assert_type(error.code, ErrorCode | str)
        assert_type(error.hint, str | None)


def envelopes(message: str) -> None:
    """Envelopes and what they mean."""
    envelope = parse_result_message(message, "cmd-1")
    assert_type(envelope, ResultEnvelope | None)
    if envelope is None:
        return
    assert_type(envelope.code, ErrorCode | str | None)
    assert_type(envelope.steps, tuple[StepResult, ...])
    assert_type(envelope.step("a").data, dict[str, str])
    try:
        assert_type(envelope.raise_for_status(), ResultEnvelope)
    except NodeNotFoundError as error:
        assert_type(error.message, str)


def mistakes() -> None:
    """Make the mistakes that a type checker should notice."""
    Click(click_type="double")  # type: ignore[arg-type]  # not one of the three
    OpenApp()  # type: ignore[call-arg]  # which app?
    NodeMatcher.of(txt="OK")  # type: ignore[call-arg]  # no such keyword
    Sleep("1")  # type: ignore[arg-type]  # seconds are numbers
