"""The execution payload: parsed, completed, validated, and converted to its wire form."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pydantic_core
from typing_extensions import override

from pytest_clawperator import errors
from pytest_clawperator.contracts import limits, schema
from pytest_clawperator.contracts.actions import (
    ACTION_TYPES,
    EXECUTION_ALIASES,
    LIKELY_TYPES,
    Retry,
    TypedAction,
    canonical_execution,
    canonical_type,
    to_milliseconds,
)
from pytest_clawperator.contracts.ecmascript import parse_json, stringify, why_not_json
from pytest_clawperator.contracts.params import ActionParams, declared_ms
from pytest_clawperator.contracts.schema import WireObject
from pytest_clawperator.contracts.wording import describe, listed, quote, suggestion
from pytest_clawperator.errors import Problem

Id = Annotated[str, schema.Text(limits.MAX_ID_LENGTH, shortest=1)]


@dataclass(frozen=True)
class KnownActionType(schema.Text):
    """The name of an action type that exists."""

    @override
    def accept(self, value: Any) -> Any:
        # `Actions` reports an unknown name, for the list as a whole.
        if isinstance(value, str) and value not in ACTION_TYPES:
            raise schema.refuse()
        return super().accept(value)

    @override
    def core_schema(self) -> pydantic_core.CoreSchema:
        return schema.Rule.core_schema(self)

    @override
    def allowed(self) -> str:
        return listed(ACTION_TYPES, limit=len(ACTION_TYPES))


@dataclass(frozen=True, repr=False)
class Action(WireObject):
    """One step: an id to find its result by, a canonical type, and its parameters."""

    id: Id
    type: Annotated[str, KnownActionType(limits.MAX_TYPE_LENGTH, length_is_fatal=True)]
    params: Annotated[ActionParams | None, schema.Nested(ActionParams)] = None


class Actions(schema.ListOf):
    """The list of actions: every type in it must be one that exists."""

    @override
    def problems_of_whole(self, items: list[Any], path: str) -> Iterable[Problem]:
        types = [item["type"] for item in items]
        unknown = [place for place, kind in enumerate(types) if kind not in ACTION_TYPES]
        if unknown:
            found = (f"{quote(types[place])} at {path}.{place}.type" for place in unknown[:10])
            words = [types[place] for place in unknown]
            yield Problem(
                path,
                "All action types must be supported",
                found=", ".join(found),
                allowed=listed(ACTION_TYPES, limit=len(ACTION_TYPES)),
                suggestion=suggestion(words, tuple(ACTION_TYPES), LIKELY_TYPES),
            )


@dataclass(frozen=True, kw_only=True, repr=False)
class Execution(WireObject):
    """A valid payload; an invalid one cannot be constructed.

    Get one from :func:`validate_execution` or :func:`complete_execution`.
    """

    aliases = EXECUTION_ALIASES

    command_id: Id
    task_id: Id
    source: Annotated[str, schema.Text(limits.MAX_SOURCE_LENGTH, shortest=1)]
    expected_format: Annotated[str, schema.OneOf((limits.EXPECTED_FORMAT,))]
    timeout_ms: Annotated[float, schema.Number(limits.MIN_TIMEOUT_MS, limits.MAX_TIMEOUT_MS)]
    actions: Annotated[tuple[Action, ...], Actions(Action, least=1, most=limits.MAX_ACTIONS)]
    mode: Annotated[str | None, schema.OneOf(limits.MODES)] = None

    def __post_init__(self) -> None:
        wire = self.to_wire()
        validate_canonical(canonical_execution(wire), original=wire)

    def to_json(self) -> str:
        """Return the payload as compact JSON."""
        return self._to_json_bytes().decode()

    def plan(self) -> dict[str, Any]:
        """Return what a dry run shows: the ids, the limit and the actions in order."""
        return {
            "commandId": self.command_id,
            "timeoutMs": self.timeout_ms,
            "actionCount": len(self.actions),
            "actions": [action.to_wire() for action in self.actions],
        }

    def _to_json_bytes(self) -> bytes:
        wire = self.to_wire()
        try:
            return pydantic_core.to_json(wire, inf_nan_mode="null")
        except pydantic_core.PydanticSerializationError:
            # A lone surrogate, which UTF-8 cannot hold: it travels as an escape.
            return stringify(wire).encode()


def validate_execution(given: Execution | dict[str, Any] | str | bytes) -> Execution:
    """Validate a payload as it is, filling nothing in.

    Aliases are understood. A payload that breaks the contract raises
    :class:`ExecutionValidationError` with every problem; one that is longer than the
    device takes raises :class:`PayloadTooLargeError`.
    """
    __tracebackhide__ = True
    if isinstance(given, Execution):
        return given
    raw = read_json(given)
    return validate_canonical(canonical_execution(raw), original=raw)


def read_json(given: Any) -> Any:
    """Parse JSON text or bytes; any other value is taken as already parsed."""
    __tracebackhide__ = True
    if isinstance(given, (bytes, bytearray)):
        try:
            given = given.decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            found = f"byte 0x{given[exc.start]:02x} at position {exc.start}"
            problem = Problem("", "the payload is not UTF-8 text", found, "JSON text in UTF-8")
            raise errors.ExecutionValidationError([problem]) from exc
    if not isinstance(given, str):
        return given
    try:
        return parse_json(given.removeprefix("\ufeff"))
    except RecursionError as exc:
        found = "too many levels of nesting"
        problem = Problem("", "the payload is nested too deeply", found, schema.NESTING)
        raise errors.ExecutionValidationError([problem]) from exc
    except ValueError as exc:
        message = f"the payload is not valid JSON: {why_not_json(exc)}"
        problem = Problem("", message, quote(given), "a JSON object")
        raise errors.ExecutionValidationError([problem]) from exc


def validate_canonical(wire: Any, *, original: Any) -> Execution:
    """Validate a payload whose aliases are renamed.

    ``original`` is what the caller wrote, for naming actions.
    """
    __tracebackhide__ = True
    execution = _as_model(wire)
    problems = _problems(wire) if execution is None else list(_broken_rules(wire))
    if execution is None or problems:
        raise _refusal(problems, original)
    if not _surely_fits(wire):
        _check_size(execution)
    return execution


def _surely_fits(wire: dict[str, Any]) -> bool:
    """Whether a quick estimate shows that a payload is far below the limit, as nearly all are.

    The canonical form differs only in how numbers are written, and none grows sixfold.
    """
    try:
        return len(pydantic_core.to_json(wire)) * 6 <= limits.MAX_PAYLOAD_BYTES
    except pydantic_core.PydanticSerializationError:
        return False


def _check_size(execution: Execution) -> None:
    size = len(execution._to_json_bytes())
    if size > limits.MAX_PAYLOAD_BYTES:
        raise errors.PayloadTooLargeError(
            f"Payload exceeds {limits.MAX_PAYLOAD_BYTES} bytes (got {size})",
            hint="Split the actions over several executions, or shorten their texts.",
            details={"bytes": size, "limit": limits.MAX_PAYLOAD_BYTES},
        )


def _as_model(wire: Any) -> Execution | None:
    try:
        execution: Execution = _EXECUTION.validate_python(wire)
    except pydantic_core.ValidationError:
        return None
    return execution


_EXECUTION = pydantic_core.SchemaValidator(Execution.core_schema())


def _problems(wire: Any) -> list[Problem]:
    """Return every problem in the order of the contract: shape first, then what actions need."""
    problems: list[Problem] = []
    if not schema.inspect_object(Execution, wire, "", problems):
        problems.extend(_broken_rules(wire))
    return problems


def _broken_rules(wire: dict[str, Any]) -> Iterator[Problem]:
    for index, action in enumerate(wire["actions"][: limits.MAX_INSPECTED]):
        kind = ACTION_TYPES.get(action["type"])
        for rule in kind.rules if kind is not None else ():
            for problem in rule(action["type"], action.get("params", {})):
                yield replace(problem, path=f"actions.{index}.{problem.path}")


def _refusal(problems: list[Problem], raw: Any) -> errors.ExecutionValidationError:
    """Return the error, naming the first problem's action as the caller wrote it."""
    first = problems[0]
    details: dict[str, Any] = {}
    parts = first.path.split(".")
    if parts[0] == "actions" and len(parts) > 1:
        action = raw["actions"][int(parts[1])]
        details.update(names_of(action))
        if first.unknown_keys:
            details["invalidKeys"] = list(first.unknown_keys)
        if "format" in first.unknown_keys and _is_snapshot(action):
            details["hint"] = "'format' was removed from snapshot_ui. Remove this parameter."
    return errors.ExecutionValidationError(problems, hint=details.get("hint"), details=details)


def names_of(action: Any) -> dict[str, str]:
    """Return the id and type that the caller gave an action, as far as they are text."""
    given = action if isinstance(action, dict) else {}
    names = {"actionId": given.get("id"), "actionType": given.get("type")}
    return {key: name for key, name in names.items() if isinstance(name, str)}


def _is_snapshot(action: Any) -> bool:
    kind = names_of(action).get("actionType")
    return kind is not None and canonical_type(kind) == "snapshot_ui"


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
        raise errors.ExecutionValidationError([Problem("", message, describe(raw), allowed)])
    if isinstance(raw.get("actions"), (list, tuple)):
        first = raw["actions"][: limits.MAX_INSPECTED]
        rest = raw["actions"][limits.MAX_INSPECTED :]
        raw = {**raw, "actions": [*_with_ids([*map(_as_wire, first)]), *rest]}
    wire = canonical_execution(raw)
    return validate_canonical({**_defaults(wire.get("actions")), **wire}, original=raw)


def complete_actions(actions: Sequence[TypedAction]) -> Execution:
    """Return the execution of typed actions whose matchers are all objects.

    They contain no aliases, so none are renamed.
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
    """Return the execution with another timeout, validated again because its size may change."""
    __tracebackhide__ = True
    milliseconds = to_milliseconds(seconds)
    is_number = isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool)
    if not is_number or (isinstance(milliseconds, float) and not math.isfinite(milliseconds)):
        raise _bad_timeout("timeoutMs must be a finite number", seconds)
    if not limits.MIN_TIMEOUT_MS <= milliseconds <= limits.MAX_TIMEOUT_MS:
        bounds = f"{limits.MIN_TIMEOUT_MS} and {limits.MAX_TIMEOUT_MS}"
        raise _bad_timeout(f"timeoutMs must be between {bounds}", seconds)
    return replace(execution, timeout_ms=milliseconds)


def _bad_timeout(message: str, seconds: Any) -> errors.PayloadError:
    least, most = limits.MIN_TIMEOUT_MS // 1000, limits.MAX_TIMEOUT_MS // 1000
    hint = f"timeout= is seconds, {least} to {most} for an execution; found {describe(seconds)}."
    return errors.PayloadError(message, hint=hint)


def waiting_ms(action: Any) -> float:
    """Return how long an action in wire form may wait, in milliseconds.

    It never fails: a value of the wrong type counts as no waiting.
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
