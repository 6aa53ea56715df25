"""A result envelope, of an execution that succeeded or failed."""

from __future__ import annotations

from typing import Any

from pytest_clawperator.contracts.envelope import ResultEnvelope


def envelope(*, is_failed: bool = False) -> ResultEnvelope:
    """Make the envelope of opening an app and tapping."""
    tap: dict[str, Any] = {"error": "NODE_NOT_FOUND", "message": "nothing there"}
    steps = [
        {"id": "open", "actionType": "open_app", "success": True, "data": {"app": "shop 2.4"}},
        {
            "id": "tap",
            "actionType": "click",
            "success": not is_failed,
            "data": tap if is_failed else {},
        },
    ]
    return ResultEnvelope.model_validate(
        {
            "commandId": "cmd-1",
            "taskId": "task-1",
            "status": "failed" if is_failed else "success",
            "stepResults": steps,
            "error": "Step tap (click) failed" if is_failed else None,
        }
    )


def envelope_of(*steps: tuple[str, str | None], **about: Any) -> ResultEnvelope:
    """Make an envelope of clicks: their ids, and the code of each that failed ("" for none)."""
    results = [
        {
            "id": name,
            "actionType": "click",
            "success": code is None,
            "data": {"error": code} if code else {},
        }
        for name, code in steps
    ]
    is_failed = any(code is not None for _, code in steps)
    whole = {
        "commandId": "cmd-1",
        "taskId": "task-1",
        "status": "failed" if is_failed else "success",
        "stepResults": results,
        "error": None,
    }
    return ResultEnvelope.model_validate(whole | about)
