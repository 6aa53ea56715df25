"""From the Operator's free text to a code, and from a code to an error.

The published Operator reports most failures as text only and drops the results of the steps
before. Which words stand for which documented code is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_clawperator.errors import (
    ClawperatorError,
    ContainerNotFoundError,
    ErrorCode,
    NavigationTimeoutError,
    NodeNotFoundError,
    OperatorNotReadyError,
    SnapshotError,
    StepFailedError,
    ValidatorMismatchError,
)

_TASK_PREFIX = "Task execution failed: "

# In order: a message may quote text from the screen, so whatever has a fixed beginning
# is tried before what is recognised by its end or its middle.
_TEXTS: tuple[tuple[re.Pattern[str], ErrorCode], ...] = tuple(
    (re.compile(pattern, re.DOTALL), code)
    for pattern, code in (
        (r"No UI node found", ErrorCode.NODE_NOT_FOUND),
        (r"Timeout waiting for node", ErrorCode.NODE_NOT_FOUND),
        (r"Target node not found after scrolling", ErrorCode.NODE_NOT_FOUND),
        (r"Click at coordinate .*failed", ErrorCode.GESTURE_FAILED),
        (r"Click .*failed", ErrorCode.NODE_NOT_CLICKABLE),
        (r"Failed to set text", ErrorCode.NODE_NOT_CLICKABLE),
        (r"No scrollable container visible", ErrorCode.CONTAINER_NOT_FOUND),
        (r"Container not found", ErrorCode.CONTAINER_NOT_FOUND),
        (r"Scrollable container not found", ErrorCode.CONTAINER_NOT_SCROLLABLE),
        (r"URI_NOT_HANDLED:", ErrorCode.URI_NOT_HANDLED),
        (r"No app found", ErrorCode.APP_NOT_FOUND),
        (r"Agent command timed out", ErrorCode.EXECUTION_TIMED_OUT),
        (r"UI tree not available", ErrorCode.UI_TREE_UNAVAILABLE),
        (r"SNAPSHOT_HIERARCHY_UNAVAILABLE", ErrorCode.UI_TREE_UNAVAILABLE),
        (r".*has no text content\Z", ErrorCode.NODE_HAS_NO_TEXT),
        (r"[\w ]*[sS]ervice is not (running|available)", ErrorCode.SERVICE_UNAVAILABLE),
    )
)

_GARBLED = re.compile(
    r"Conversion = |Format specifier |Flags = |Message contains \d+ placeholders|%|\w != java"
)

_CLASSES: Mapping[ErrorCode | str, type[ClawperatorError]] = {
    ErrorCode.NODE_NOT_FOUND: NodeNotFoundError,
    ErrorCode.TARGET_NOT_FOUND: NodeNotFoundError,
    ErrorCode.CONTAINER_NOT_FOUND: ContainerNotFoundError,
    ErrorCode.NAVIGATION_TIMEOUT: NavigationTimeoutError,
    ErrorCode.VALIDATOR_MISMATCH: ValidatorMismatchError,
    ErrorCode.SERVICE_UNAVAILABLE: OperatorNotReadyError,
    ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING: OperatorNotReadyError,
    ErrorCode.OPERATOR_CRASHED: OperatorNotReadyError,
    ErrorCode.OPERATOR_NOT_INSTALLED: OperatorNotReadyError,
    ErrorCode.OPERATOR_VARIANT_MISMATCH: OperatorNotReadyError,
    ErrorCode.UI_TREE_UNAVAILABLE: SnapshotError,
    ErrorCode.SNAPSHOT_EXTRACTION_FAILED: SnapshotError,
}

_HINTS: Mapping[ErrorCode | str, str] = {
    ErrorCode.NODE_NOT_FOUND: "Take a snapshot and compare the matcher with what is on the screen; "
    "textEquals is case-sensitive, and off-screen nodes need a scroll first.",
    ErrorCode.TARGET_NOT_FOUND: "The list ended before the node came up: check the matcher, the "
    "direction, and the container that was scrolled.",
    ErrorCode.NODE_NOT_CLICKABLE: "The device refused the gesture: look for an overlay, or for a "
    "disabled or zero-sized node, in a snapshot.",
    ErrorCode.NODE_HAS_NO_TEXT: "The matcher fits a node without text or description: match the "
    "label inside it instead.",
    ErrorCode.CONTAINER_NOT_FOUND: "Check the container's matcher against a snapshot; a scroll "
    'needs a node with scrollable="true".',
    ErrorCode.CONTAINER_NOT_SCROLLABLE: 'Match the node that has scrollable="true" in a snapshot.',
    ErrorCode.NAVIGATION_TIMEOUT: "If the app was in front already, wait for one of its nodes "
    "(expectedNode) instead of its package.",
    ErrorCode.VALIDATOR_MISMATCH: "The text was read but has another form: see raw_text in the "
    "step's data.",
    ErrorCode.VALUE_NODE_NOT_FOUND: "No value stands after the label in the same row: read the "
    "value by a matcher of its own.",
    ErrorCode.URI_NOT_HANDLED: "Install an app that handles this kind of address, or check its "
    "spelling.",
    ErrorCode.APP_NOT_FOUND: "Install the app, or check the package name; only apps with a "
    "launcher entry can be opened.",
    ErrorCode.EXECUTION_TIMED_OUT: "Raise the execution's timeoutMs, or split the actions over "
    "several executions.",
    ErrorCode.GESTURE_FAILED: "The device refused the gesture: check that the screen is on and "
    "unlocked and that nothing covers it.",
    ErrorCode.GLOBAL_ACTION_FAILED: "Check that the screen is on and the accessibility service "
    "is enabled.",
    ErrorCode.SECURITY_BLOCK_DETECTED: "Unlock the device, or dismiss the secure window above "
    "the app.",
    ErrorCode.CONTAINER_LOST: "The list went away while it was scrolled: wait for the screen to "
    "settle before scrolling.",
    ErrorCode.UI_TREE_UNAVAILABLE: "Check that the screen is on and unlocked; a protected window "
    "gives no tree.",
    ErrorCode.SNAPSHOT_EXTRACTION_FAILED: "Check that the device's log keeps debug lines and is "
    "large enough (adb logcat -g).",
    ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT: "An execution has one picture, of its first "
    "take_screenshot: give each an execution of its own.",
    ErrorCode.SERVICE_UNAVAILABLE: "Switch the Operator's accessibility service on: by hand in "
    "the device's settings, or with connect(grant=True).",
}

_LAST_RESORT = "See the envelope's steps and the device's log for what came before."


def code_of_text(text: str) -> ErrorCode:
    """Return the code that the Operator's free text stands for."""
    reason = text.removeprefix(_TASK_PREFIX)
    for pattern, code in _TEXTS:
        if pattern.match(reason):
            return code
    return ErrorCode.EXECUTION_FAILED


def is_garbled(text: str) -> bool:
    """Whether the text is a complaint of the Operator's formatter about a percent sign."""
    return _GARBLED.match(text.removeprefix(_TASK_PREFIX)) is not None


def failure(code: ErrorCode | str, *, envelope: Any, step: Any) -> ClawperatorError:
    """Return the error for a failed envelope."""
    cls = _CLASSES.get(code, StepFailedError)
    message = str(step) if step is not None else (envelope.error or "the execution failed")
    if step is not None and step.data.get("message"):
        message = f"{message} - {step.data['message']}"
    details = {
        "commandId": envelope.command_id,
        "taskId": envelope.task_id,
        "step": step.to_wire() if step is not None else None,
        "error": envelope.error,
    }
    hint = _HINTS.get(code) or envelope.hint or _LAST_RESORT
    if issubclass(cls, StepFailedError):
        return cls(message, code=code, hint=hint, details=details, envelope=envelope, step=step)
    return cls(message, code=code, hint=hint, details=details)
