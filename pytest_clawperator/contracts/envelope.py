"""The result envelope: what came back from the device, and what it means."""

from __future__ import annotations

import re
import warnings
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError
from pydantic.alias_generators import to_camel
from typing_extensions import Self

from pytest_clawperator import errors
from pytest_clawperator.contracts.ecmascript import parse_json, to_string, trim, why_not_json
from pytest_clawperator.contracts.wording import describe, quote
from pytest_clawperator.errors import ClawperatorError, ErrorCode
from pytest_clawperator.redaction import hide
from pytest_clawperator.remedies import Hint, Remedy, RemedyKind

RESULT_PREFIX = "[Clawperator-Result]"
_MOST_UNREAD = 50


def _a_string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, found {describe(value)}")
    return value


def _a_string_or_null(value: Any) -> str | None:
    return None if value is None else _a_string(value)


def _a_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, found {describe(value)}")
    return value


def _a_status(value: Any) -> str:
    if value not in ("success", "failed"):
        raise ValueError(f'must be "success" or "failed", found {describe(value)}')
    return str(value)


def _a_list(value: Any) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"must be a list, found {describe(value)}")
    return value


def _texts(value: Any) -> dict[str, str]:
    """Turn step data into strings; anything that is not an object counts as none."""
    if not isinstance(value, dict):
        return {}
    return {key: v if type(v) is str else to_string(v) for key, v in value.items()}


def _nothing(value: Any) -> None:
    """Ignore the value: a device cannot set this field."""


# Plain functions, because pydantic's own string type refuses lone surrogates.
String = Annotated[str, PlainValidator(_a_string)]
NullableString = Annotated[str | None, PlainValidator(_a_string_or_null)]


class _Received(BaseModel):
    """A value from the device: unknown keys are ignored, because Operators differ."""

    # A model that is only constructed, never parsed, needs no schema.
    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, defer_build=True
    )


class StepResult(_Received):
    """The result of one action; one that failed is false.

    ``proof`` is the snapshot step that the client sent along with the action, to prove it. It
    is not part of the wire form.
    """

    id: String
    action_type: String
    success: Annotated[bool, PlainValidator(_a_boolean)]
    data: Annotated[dict[str, str], PlainValidator(_texts)] = Field(default_factory=dict)
    proof: Annotated[Any, PlainValidator(_nothing)] = Field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.success

    @property
    def code(self) -> ErrorCode | str | None:
        """The code of the failure, or None."""
        given = None if self.success else self.data.get("error")
        return errors.known_code(given) if given else None

    def to_wire(self) -> dict[str, Any]:
        """Return the step in wire form."""
        return {
            "id": self.id,
            "actionType": self.action_type,
            "success": self.success,
            "data": dict(self.data),
        }

    def __str__(self) -> str:
        outcome = "succeeded" if self.success else f"failed: {self.code or 'no code'}"
        return f"step {quote(self.id)} ({self.action_type}) {outcome}"

    def __repr__(self) -> str:
        said = "" if self.success else self.data.get("message", "")
        return hide(f"<{type(self).__name__} {self}{f': {quote(said)}' if said else ''}>")


class ResultEnvelope(_Received):
    """The result of an execution. A failed envelope is data, not an exception; it is false."""

    command_id: String
    task_id: String
    status: Annotated[str, PlainValidator(_a_status)]
    steps: Annotated[tuple[StepResult, ...], BeforeValidator(_a_list)] = Field(alias="stepResults")
    error: NullableString
    error_code: NullableString = None
    hint: NullableString = None

    @property
    def ok(self) -> bool:
        """Whether the execution and every step of it succeeded.

        An envelope that contradicts itself did not: one that reports success and an error, or
        success and no step, because every execution has one.
        """
        return (
            self.status == "success"
            and not (self.error or self.error_code)
            and bool(self.steps)
            and all(step.success for step in self.steps)
        )

    def __bool__(self) -> bool:
        return self.ok

    if not TYPE_CHECKING:  # type checkers would no longer know the attributes

        def __getattribute__(self, name: str) -> Any:
            if UNREAD and not name.startswith("_"):
                UNREAD.remove(self)
            return super().__getattribute__(name)

    @property
    def failed_steps(self) -> tuple[StepResult, ...]:
        """The steps that failed, in order."""
        return tuple(step for step in self.steps if not step.success)

    @property
    def code(self) -> ErrorCode | str | None:
        """The one code to branch on; None when everything succeeded.

        The envelope's own code comes first, then the first failed step's, then the code
        that the Operator's free text stands for.
        """
        if self.ok:
            return None
        if self.error_code:
            return errors.known_code(self.error_code)
        if self.failed_steps:
            return self.failed_steps[0].code or ErrorCode.EXECUTION_FAILED
        return ErrorCode.RESULT_ENVELOPE_MALFORMED if self._is_hollow else code_of_text(self.reason)

    @property
    def reason(self) -> str:
        """Why it failed: what the device said, or what is missing; empty without a reason."""
        return self.error or (_HOLLOW if self._is_hollow else "")

    @property
    def _is_hollow(self) -> bool:
        """Whether it reports success, and nothing that succeeded."""
        return self.status == "success" and not (self.steps or self.error or self.error_code)

    def step(self, id: str) -> StepResult:
        """Return the result of the action with this id; the first if there are several."""
        for step in self.steps:
            if step.id == id:
                return step
        there = ", ".join(quote(step.id) for step in self.steps) or "none"
        raise KeyError(f"no step {quote(id)} in the envelope of {self.command_id}; there: {there}")

    def raise_for_status(self) -> Self:
        """Raise a typed error if anything failed; else return the envelope itself."""
        __tracebackhide__ = True
        code = self.code
        if code is None:
            return self
        raise failure(code, envelope=self, step=next(iter(self.failed_steps), None))

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form; it has an error code only if one was received."""
        wire: dict[str, Any] = {
            "commandId": self.command_id,
            "taskId": self.task_id,
            "status": self.status,
            "stepResults": [step.to_wire() for step in self.steps],
            "error": self.error,
        }
        if "error_code" in self.model_fields_set:
            wire["errorCode"] = self.error_code
        if self.hint is not None:
            wire["hint"] = self.hint
        return wire

    def __repr__(self) -> str:
        # Short, with the reason first: it is what `assert envelope.ok` shows.
        steps = f"{len(self.steps)} step{'' if len(self.steps) == 1 else 's'}"
        if self.ok:
            return f"<{type(self).__name__} success, {steps}>"
        why = f"{self.code}: {quote(self.reason or 'no reason given')}"
        if self.failed_steps:
            failed = self.failed_steps[0]
            said = failed.data.get("message", "")
            why = f"{failed}{f', {quote(said)}' if said else ''}"
        return hide(f"<{type(self).__name__} failed: {why}; {steps}>")


class UnreadFailures:
    """The failed envelopes that a test was given and has not looked at."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ResultEnvelope, str, int]] = {}

    def add(self, envelope: ResultEnvelope, file: str, line: int) -> None:
        """Keep an envelope, with the line that asked for it."""
        self._known[id(envelope)] = (envelope, file, line)
        if len(self._known) > _MOST_UNREAD:  # without pytest nobody takes them
            del self._known[next(iter(self._known))]

    def remove(self, envelope: ResultEnvelope) -> None:
        """Forget an envelope that is looked at."""
        self._known.pop(id(envelope), None)

    @contextmanager
    def warning(self, *, of_all: bool = False) -> Iterator[None]:
        """Warn at the end of the block of those that are left, each at its line.

        Without ``of_all`` those from before the block may still be looked at after it.
        """
        before = set() if of_all else set(self._known)
        try:
            yield
        except BaseException:
            with suppress(errors.ClawperatorWarning):  # if it is an error, there is one already
                self._warn(before)
            raise
        self._warn(before)

    def _warn(self, before: Container[int]) -> None:
        for one in [one for one in self._known if one not in before]:
            envelope, file, line = self._known.pop(one)
            text = f"this execution failed, and nothing looked at its envelope: {envelope!r}"
            warnings.warn_explicit(text, errors.ClawperatorWarning, file, line)

    def __len__(self) -> int:
        return len(self._known)


#: Those of this process.
UNREAD = UnreadFailures()


def parse_result_line(line: str, command_id: str) -> ResultEnvelope | None:
    """Parse a whole log line, with the result prefix anywhere in it, as the reference host does.

    None for a line without the prefix or an envelope of another command; a line with the
    prefix that holds no envelope raises :class:`EnvelopeMalformedError`.
    """
    _, prefix, rest = trim(line).partition(RESULT_PREFIX)
    return _parse(trim(rest), command_id) if prefix else None


def parse_result_message(message: str, command_id: str) -> ResultEnvelope | None:
    """Parse the message of a log entry, which must begin with the result prefix.

    Text on a screen may quote the prefix; only the Operator begins a message with it.
    """
    if not message.startswith(RESULT_PREFIX):
        return None
    return _parse(trim(message[len(RESULT_PREFIX) :]), command_id)


def read_envelope(given: Any, *, source: str, text: str | None = None) -> ResultEnvelope:
    """Build an envelope from parsed JSON.

    Anything else raises :class:`EnvelopeMalformedError`, which names where it was found
    (``source``) and every flaw.
    """
    if not isinstance(given, dict):
        reason = f"it must be an object, found {describe(given)}"
        raise _malformed(source, reason, text or str(given))
    try:
        return ResultEnvelope.model_validate(given)
    except ValidationError as exc:
        reason = "; ".join(_flaws(exc))
        raise _malformed(source, reason, text or str(given), given.get("commandId")) from exc


def _parse(text: str, command_id: str) -> ResultEnvelope | None:
    try:
        given = parse_json(text)
    except (ValueError, RecursionError) as exc:
        raise _malformed(_LOG, f"it is not valid JSON: {why_not_json(exc)}", text) from exc
    if isinstance(given, dict):
        given.pop("hint", None)  # only the host sets it
    envelope = read_envelope(given, source=_LOG, text=text)
    return envelope if envelope.command_id == command_id else None


def _flaws(refusal: ValidationError) -> Iterator[str]:
    found = refusal.errors(include_url=False, include_context=False)
    for error in found[:_SHOWN_FLAWS]:
        path = ".".join(str(part) for part in error["loc"])
        reason = _REASONS.get(error["type"], error["msg"])
        yield f"{path} {reason.removeprefix('Value error, ')}"
    if len(found) > _SHOWN_FLAWS:
        yield f"and {len(found) - _SHOWN_FLAWS} more"


_LOG = "the log"
_HOLLOW = "the envelope reports success and has no step results"
_VERSIONS = "Check that the Operator app and this package are of the same major.minor version."
_SHOWN_FLAWS = 10
_REASONS = {"missing": "is missing", "model_type": "must be an object"}


def _malformed(
    source: str, reason: str, text: str, command_id: Any = None
) -> errors.EnvelopeMalformedError:
    return errors.EnvelopeMalformedError(
        f"{source} holds a result envelope that cannot be read: {reason}",
        hint=_VERSIONS,
        details={"text": text, "commandId": command_id if isinstance(command_id, str) else None},
    )


# From the Operator's free text to a code, and from a code to an error. The published Operator
# reports most failures as text only, and drops the results of the steps before.

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
    ErrorCode.NODE_NOT_FOUND: errors.NodeNotFoundError,
    ErrorCode.TARGET_NOT_FOUND: errors.NodeNotFoundError,
    ErrorCode.CONTAINER_NOT_FOUND: errors.ContainerNotFoundError,
    ErrorCode.NAVIGATION_TIMEOUT: errors.NavigationTimeoutError,
    ErrorCode.VALIDATOR_MISMATCH: errors.ValidatorMismatchError,
    ErrorCode.SERVICE_UNAVAILABLE: errors.OperatorNotReadyError,
    ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING: errors.OperatorNotReadyError,
    ErrorCode.OPERATOR_CRASHED: errors.OperatorNotReadyError,
    ErrorCode.OPERATOR_NOT_INSTALLED: errors.OperatorNotReadyError,
    ErrorCode.OPERATOR_VARIANT_MISMATCH: errors.OperatorNotReadyError,
    ErrorCode.RESULT_ENVELOPE_MALFORMED: errors.EnvelopeMalformedError,
    ErrorCode.UI_TREE_UNAVAILABLE: errors.SnapshotError,
    ErrorCode.SNAPSHOT_EXTRACTION_FAILED: errors.SnapshotError,
}

_HINTS: Mapping[ErrorCode | str, Hint] = {
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
    ErrorCode.VALUE_NODE_NOT_FOUND: "No value stands after the label in the same row: match the "
    "value itself instead.",
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
    "take_screenshot: send each in a separate execution.",
    ErrorCode.SERVICE_UNAVAILABLE: Remedy(RemedyKind.RESTORE_SERVICE),
    ErrorCode.RESULT_ENVELOPE_MALFORMED: _VERSIONS,
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
    """Whether the Operator's formatter failed on a percent sign and garbled the text."""
    return _GARBLED.match(text.removeprefix(_TASK_PREFIX)) is not None


def failure(code: ErrorCode | str, *, envelope: Any, step: Any) -> ClawperatorError:
    """Return the error for a failed envelope."""
    cls = _CLASSES.get(code, errors.StepFailedError)
    message = str(step) if step is not None else (envelope.reason or "the execution failed")
    if step is not None and step.data.get("message"):
        message = f"{message} - {step.data['message']}"
    details = {
        "commandId": envelope.command_id,
        "taskId": envelope.task_id,
        "step": step.to_wire() if step is not None else None,
        "error": envelope.error,
    }
    hint = _HINTS.get(code) or envelope.hint or _LAST_RESORT
    if issubclass(cls, errors.StepFailedError):
        return cls(message, code=code, hint=hint, details=details, envelope=envelope, step=step)
    return cls(message, code=code, hint=hint, details=details)
