"""What a payload leaves out, filled in before it is validated."""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.actions import ACTION_TYPES
from pytest_clawperator.contracts.aliases import canonical_execution, canonical_type
from pytest_clawperator.contracts.durations import declared_ms
from pytest_clawperator.contracts.payload import (
    Action,
    Execution,
    names_of,
    read_json,
    validate_canonical,
)
from pytest_clawperator.contracts.schema.objects import WireObject
from pytest_clawperator.contracts.schema.typed_action import Retry, TypedAction, to_milliseconds
from pytest_clawperator.contracts.text.wording import describe
from pytest_clawperator.errors import ExecutionValidationError, PayloadError, Problem


def complete_execution(
    given: Execution
    | dict[str, Any]
    | Sequence[TypedAction | Action | dict[str, Any]]
    | str
    | bytes,
) -> Execution:
    """Fill in what a payload leaves out, then validate it. A bare list of actions will do.

    Filled in are the ids, the source, the format, the timeout and the ids of actions.
    What was given under any of its names is never overridden.
    """
    __tracebackhide__ = True
    if isinstance(given, Execution):
        return given
    raw = read_json(given)
    if isinstance(raw, (list, tuple)):
        raw = {"actions": list(raw)}
    if not isinstance(raw, dict):
        message = "the payload must be an object or a list of actions"
        allowed = "a dict, JSON text or bytes, or a list of actions"
        raise ExecutionValidationError([Problem("", message, describe(raw), allowed)])
    if isinstance(raw.get("actions"), (list, tuple)):
        first = raw["actions"][: limits.MAX_INSPECTED]
        rest = raw["actions"][limits.MAX_INSPECTED :]
        raw = {**raw, "actions": [*_with_ids([*map(_as_wire, first)]), *rest]}
    wire = canonical_execution(raw)
    return validate_canonical({**_defaults(wire.get("actions")), **wire}, original=raw)


def complete_actions(actions: Sequence[TypedAction]) -> Execution:
    """Return the execution of typed actions whose matchers are all objects.

    There are no aliases in them, so none are looked for.
    """
    __tracebackhide__ = True
    wire = _with_ids([action.to_wire() for action in actions])
    payload = {**_defaults(wire), "actions": wire}
    return validate_canonical(payload, original=payload)


def _defaults(actions: Any) -> dict[str, Any]:
    unique = uuid.uuid4().hex[:16]
    return {
        "commandId": f"cmd-{unique}",
        "taskId": f"task-{unique}",
        "source": limits.SOURCE,
        "expectedFormat": limits.EXPECTED_FORMAT,
        "timeoutMs": _time_needed(actions),
    }


def _as_wire(action: Any) -> Any:
    """Convert typed actions and matcher objects to wire form."""
    if isinstance(action, (TypedAction, WireObject, Retry)):
        return action.to_wire()
    params = action.get("params") if isinstance(action, dict) else None
    if isinstance(params, dict):
        return {**action, "params": {key: _as_wire(value) for key, value in params.items()}}
    return {**action, "params": _as_wire(params)} if params is not None else action


def _with_ids(actions: list[Any]) -> list[Any]:
    """Add ids to actions that have none, made of their type and place."""
    taken = {names_of(action).get("actionId") for action in actions}
    named = []
    for place, action in enumerate(actions, 1):
        if isinstance(action, dict) and "id" not in action:
            kind = canonical_type(names_of(action).get("actionType", "action"))[:40]
            name = f"{kind}-{place}"
            while name in taken:
                name += "x"
            action = {"id": name, **action}
        named.append(action)
    return named


def override_timeout(execution: Execution, seconds: float) -> Execution:
    """Return the execution with another timeout; it is validated again, as its size may change."""
    __tracebackhide__ = True
    milliseconds = to_milliseconds(seconds)
    is_number = isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool)
    if not is_number or (isinstance(milliseconds, float) and not math.isfinite(milliseconds)):
        raise _bad_timeout("timeoutMs must be a finite number", seconds)
    if not limits.MIN_TIMEOUT_MS <= milliseconds <= limits.MAX_TIMEOUT_MS:
        bounds = f"{limits.MIN_TIMEOUT_MS} and {limits.MAX_TIMEOUT_MS}"
        raise _bad_timeout(f"timeoutMs must be between {bounds}", seconds)
    return replace(execution, timeout_ms=milliseconds)


def _bad_timeout(message: str, seconds: Any) -> PayloadError:
    least, most = limits.MIN_TIMEOUT_MS // 1000, limits.MAX_TIMEOUT_MS // 1000
    hint = f"timeout= is seconds, {least} to {most} for an execution; found {describe(seconds)}."
    return PayloadError(message, hint=hint)


def waiting_ms(action: Any) -> float:
    """Return how long an action in wire form may wait, in milliseconds.

    It never fails: what is no number, or no object, waits for nothing.
    """
    params = action.get("params") if isinstance(action, dict) else None
    if not isinstance(params, dict):
        return 0.0
    name = action.get("type")
    kind = ACTION_TYPES.get(name) if isinstance(name, str) else None
    return declared_ms(params) + (0.0 if kind is None else kind.undeclared_ms(params))


def _time_needed(actions: Any) -> int:
    """Return the timeout that the declared waiting needs, with a margin, within the limits."""
    declared = sum(map(waiting_ms, actions if isinstance(actions, list) else ()))
    needed = max(limits.DEFAULT_TIMEOUT_MS, math.ceil(declared) + limits.TIMEOUT_MARGIN_MS)
    return min(needed, limits.MAX_TIMEOUT_MS)
