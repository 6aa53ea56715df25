"""Free text gets its documented code, and a code its error class."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.failures import code_of_text, is_garbled
from pytest_clawperator.errors import (
    ClawperatorError,
    ContainerNotFoundError,
    NavigationTimeoutError,
    NodeNotFoundError,
    OperatorNotReadyError,
    SnapshotError,
    StepFailedError,
    ValidatorMismatchError,
)

MATCHER = "NodeMatcher(resourceId=null, role=null, textEquals=OK)"
TEXTS = [
    (f"No UI node found matching criteria: {MATCHER}", "NODE_NOT_FOUND", NodeNotFoundError),
    (
        f"Timeout waiting for node matching: {MATCHER} (timeoutMs=5)",
        "NODE_NOT_FOUND",
        NodeNotFoundError,
    ),
    (
        f"Target node not found after scrolling: {MATCHER}",
        "NODE_NOT_FOUND",
        NodeNotFoundError,
    ),
    ("Click on matching UI node failed", "NODE_NOT_CLICKABLE", StepFailedError),
    ("Click at coordinate (1,2) failed", "GESTURE_FAILED", StepFailedError),
    ("Failed to set text on matching UI node", "NODE_NOT_CLICKABLE", StepFailedError),
    ("No scrollable container visible", "CONTAINER_NOT_FOUND", ContainerNotFoundError),
    (f"Container not found for {MATCHER}", "CONTAINER_NOT_FOUND", ContainerNotFoundError),
    (f"Scrollable container not found for {MATCHER}", "CONTAINER_NOT_SCROLLABLE", StepFailedError),
    ("URI_NOT_HANDLED: No application found to handle uri=x:y", "URI_NOT_HANDLED", StepFailedError),
    ("No app found with applicationId=com.x", "APP_NOT_FOUND", StepFailedError),
    ("Matching UI node has no text content", "NODE_HAS_NO_TEXT", StepFailedError),
    ("Agent command timed out after 1000ms", "EXECUTION_TIMED_OUT", StepFailedError),
    ("UI tree not available", "UI_TREE_UNAVAILABLE", SnapshotError),
    (
        "SNAPSHOT_HIERARCHY_UNAVAILABLE: UI hierarchy dump not available",
        "UI_TREE_UNAVAILABLE",
        SnapshotError,
    ),
    ("Accessibility service is not available", "SERVICE_UNAVAILABLE", OperatorNotReadyError),
    (
        "OperatorAccessibilityService is not running - cannot execute press_key",
        "SERVICE_UNAVAILABLE",
        OperatorNotReadyError,
    ),
    ("Conversion = e, Flags =  ", "EXECUTION_FAILED", StepFailedError),
    ("", "EXECUTION_FAILED", StepFailedError),
]


def envelope(**wire: Any) -> ResultEnvelope:
    """Make a failed envelope."""
    whole: dict[str, Any] = {
        "commandId": "c",
        "taskId": "t",
        "status": "failed",
        "stepResults": [],
        "error": None,
    }
    return ResultEnvelope.model_validate({**whole, **wire})


@pytest.mark.parametrize("prefix", ["", "Task execution failed: "])
@pytest.mark.parametrize(("text", "code", "cls"), TEXTS)
def test_each_text_of_the_operator_has_a_code_and_an_error(
    prefix: str, text: str, code: str, cls: type[ClawperatorError]
) -> None:
    """Each text of the Operator has a code and an error of its own."""
    failed = envelope(error=prefix + text)

    with pytest.raises(cls) as raised:
        failed.raise_for_status()

    assert failed.code == code
    assert type(raised.value) is cls
    assert raised.value.code == code
    assert raised.value.hint
    assert raised.value.details["error"] == prefix + text


@pytest.mark.parametrize(
    "quoted",
    [
        "service is not running",
        "x has no text content",
        "Click on matching UI node failed",
        "URI_NOT_HANDLED: x",
        "UI tree not available",
    ],
)
def test_quoted_text_does_not_mislead(quoted: str) -> None:
    """What a matcher quotes is not what happened."""
    text = f"No UI node found matching criteria: NodeMatcher(textEquals={quoted})"

    assert code_of_text(text) == "NODE_NOT_FOUND"
    assert code_of_text(f'Something else: "{quoted}", see there') == "EXECUTION_FAILED"


@pytest.mark.parametrize(
    ("code", "cls"),
    [
        ("NODE_NOT_FOUND", NodeNotFoundError),
        ("TARGET_NOT_FOUND", NodeNotFoundError),
        ("CONTAINER_NOT_FOUND", ContainerNotFoundError),
        ("NAVIGATION_TIMEOUT", NavigationTimeoutError),
        ("VALIDATOR_MISMATCH", ValidatorMismatchError),
        ("SNAPSHOT_EXTRACTION_FAILED", SnapshotError),
        ("OPERATOR_NOT_INSTALLED", OperatorNotReadyError),
        ("DEVICE_ACCESSIBILITY_NOT_RUNNING", OperatorNotReadyError),
        ("GLOBAL_ACTION_FAILED", StepFailedError),
        ("SOMETHING_NEW", StepFailedError),
    ],
)
def test_a_failed_step_raises_the_class_of_its_code(code: str, cls: type[ClawperatorError]) -> None:
    """A failed step raises the class of its code, with the step in the message."""
    step = {"id": "k", "actionType": "click", "success": False, "data": {"error": code}}

    with pytest.raises(cls) as raised:
        envelope(stepResults=[step]).raise_for_status()

    assert type(raised.value) is cls
    assert raised.value.message == f'step "k" (click) failed: {code}'
    assert raised.value.details["step"] == step


def test_the_error_carries_envelope_and_step() -> None:
    """A handler has everything at hand."""
    step = {
        "id": "k",
        "actionType": "click",
        "success": False,
        "data": {"error": "NODE_NOT_FOUND", "message": "nothing there"},
    }
    failed = envelope(stepResults=[step])

    with pytest.raises(NodeNotFoundError) as raised:
        failed.raise_for_status()

    assert raised.value.envelope is failed
    assert raised.value.step is failed.steps[0]
    assert raised.value.message.endswith(" - nothing there")


def test_a_broken_lab_is_no_assertion() -> None:
    """A service that is off is not the test's failure."""
    failed = envelope(error="Accessibility service is not available", hint="Use another tool.")

    with pytest.raises(OperatorNotReadyError) as raised:
        failed.raise_for_status()

    assert not isinstance(raised.value, AssertionError)
    assert "connect(grant=True)" in str(raised.value.hint)


def test_the_hosts_hint_is_used_where_there_is_no_better_one() -> None:
    """An envelope's own hint stands in for codes that nothing is known about."""
    failed = envelope(error="What is this", error_code="NEW_CODE", hint="Update it.")

    with pytest.raises(StepFailedError) as raised:
        failed.raise_for_status()

    assert raised.value.hint == "Update it."


@pytest.mark.parametrize(
    ("text", "garbled"),
    [
        ("Conversion = 'F'", True),
        ("Task execution failed: Format specifier '%2$s'", True),
        ("Message contains 4 placeholders, but 1 arguments were provided.", True),
        ("d != java.lang.IllegalStateException", True),
        ("No UI node found for Conversion = 'F'", False),
    ],
)
def test_complaints_of_a_confused_formatter_are_recognised(text: str, garbled: bool) -> None:
    """What a confused formatter says is told from what the Operator says."""
    assert is_garbled(text) is garbled
