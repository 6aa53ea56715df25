"""The executions that commands send: one action each, with ids that say which command it was."""

from __future__ import annotations

import secrets
import time
from typing import Any

OBSERVE, ACTION, CLI = "clawperator-observe", "clawperator-action", "clawperator-cli"
#: The timeout of executions for which none was given, in milliseconds.
USUAL_MS = 30_000
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


def unique(name: str) -> str:
    """Return an id that no other command has: the name, the time, and seven letters."""
    return f"{name}-{_now()}-{''.join(secrets.choice(_LETTERS) for _ in range(7))}"


def timed(name: str) -> str:
    """Return an id of the name and the time."""
    return f"{name}_{_now()}"


def payload(
    kind: str,
    params: dict[str, Any] | None = None,
    *,
    step: str,
    command_id: str,
    task_id: str | None = None,
    source: str = CLI,
    timeout_ms: float = USUAL_MS,
    is_direct: bool = False,
) -> dict[str, Any]:
    """Return an execution of one action, in wire form."""
    action: dict[str, Any] = {"id": step, "type": kind}
    if params is not None:
        action["params"] = params
    return {
        "commandId": command_id,
        "taskId": task_id or command_id,
        "source": source,
        "expectedFormat": "android-ui-automator",
        "timeoutMs": timeout_ms,
        "actions": [action],
        **({"mode": "direct"} if is_direct else {}),
    }


def direct(
    name: str,
    kind: str,
    params: dict[str, Any] | None = None,
    *,
    timeout_ms: float = USUAL_MS,
    source: str = ACTION,
    step: str | None = None,
) -> dict[str, Any]:
    """Return an execution of one action whose step is called as the command."""
    return payload(
        kind,
        params,
        step=step or name,
        command_id=unique(name),
        source=source,
        timeout_ms=timeout_ms,
        is_direct=True,
    )


def _now() -> int:
    return round(time.time() * 1000)
