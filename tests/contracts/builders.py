"""Payloads for tests: the smallest that keep the contract."""

from __future__ import annotations

from typing import Any

from pytest_clawperator.contracts.payload import Execution, validate_execution
from pytest_clawperator.errors import ExecutionValidationError

# For each action type parameters that are enough.
ENOUGH: dict[str, dict[str, Any]] = {
    "open_app": {"applicationId": "com.example"},
    "open_uri": {"uri": "https://example.com"},
    "close_app": {"applicationId": "com.example"},
    "start_recording": {},
    "stop_recording": {},
    "wait_for_node": {"matcher": {"textEquals": "OK"}},
    "click": {"matcher": {"textEquals": "OK"}},
    "scroll_and_click": {"matcher": {"textEquals": "OK"}},
    "scroll": {},
    "scroll_until": {},
    "read_text": {"matcher": {"textEquals": "OK"}},
    "enter_text": {"matcher": {"textEquals": "OK"}, "text": "hello"},
    "snapshot_ui": {},
    "take_screenshot": {},
    "sleep": {"durationMs": 100},
    "press_key": {"key": "back"},
    "wait_for_navigation": {"expectedPackage": "com.example", "timeoutMs": 5000},
    "read_key_value_pair": {"labelMatcher": {"textEquals": "OK"}},
}
# Every parameter that exists, in the order of the contract, and what it holds.
PARAMS = {
    "applicationId": "string",
    "sessionId": "string",
    "uri": "string",
    "durationMs": "number",
    "path": "string",
    "matcher": "matcher",
    "coordinate": "point",
    "text": "string",
    "submit": "boolean",
    "clear": "boolean",
    "clickType": "string",
    "container": "matcher",
    "direction": "string",
    "maxSwipes": "number",
    "distanceRatio": "number",
    "settleDelayMs": "number",
    "maxScrolls": "number",
    "maxDurationMs": "number",
    "noPositionChangeThreshold": "number",
    "findFirstScrollableChild": "boolean",
    "clickAfter": "boolean",
    "validator": "string",
    "validatorPattern": "string",
    "key": "string",
    "retry": "object",
    "scrollRetry": "object",
    "clickRetry": "object",
    "expectedPackage": "string",
    "expectedNode": "matcher",
    "timeoutMs": "number",
    "labelMatcher": "matcher",
    "all": "boolean",
}
MATCHER_FIELDS = (
    "resourceId",
    "role",
    "textEquals",
    "textContains",
    "contentDescEquals",
    "contentDescContains",
)
# What the reference host calls white space, and what it does not although others do.
WHITE_SPACE = (
    "\t", "\n", "\v", "\f", "\r", " ", "\u00a0", "\u1680",
    "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005",
    "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
    "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff",
)  # fmt: skip
NOT_WHITE_SPACE = ("\u0085", "\u001c", "\u001d", "\u001e", "\u001f", "\u200b", "\u180e")


def payload(*actions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Make a payload; ``...`` as a value takes a key away."""
    whole = {
        "commandId": "cmd-1",
        "taskId": "task-1",
        "source": "tests",
        "expectedFormat": "android-ui-automator",
        "timeoutMs": 30000,
        "actions": list(actions) or [{"id": "a1", "type": "snapshot_ui"}],
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def action(type: str, **params: Any) -> dict[str, Any]:
    """Make an action of just these parameters."""
    return {"id": "a1", "type": type, "params": params}


def enough(type: str, **params: Any) -> dict[str, Any]:
    """Make an action with what it needs and these parameters; ``...`` takes one away."""
    merged = {**ENOUGH[type], **params}
    return action(type, **{key: value for key, value in merged.items() if value is not ...})


def paths(given: Any) -> list[str]:
    """Validate what must be refused, and give where its problems are, in order."""
    return [problem.path for problem in refusal(given).problems]


def refusal(given: Any) -> ExecutionValidationError:
    """Validate what must be refused, and give the refusal."""
    try:
        accepted: Execution = validate_execution(given)
    except ExecutionValidationError as error:
        return error
    raise AssertionError(f"was accepted: {accepted.to_wire()}")
