"""Post-processing: what the host adds to an envelope before anybody sees it.

All I/O is over when this begins: dispatch brings back one :class:`Collected`, and every
processor is a pure function of the envelope and that. They are folded in order; adding a
rule is adding a function and its name to :data:`PROCESSORS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import is_
from reprlib import repr as short_repr
from types import MappingProxyType
from typing import Any

from pytest_clawperator.contracts.actions import ACTION_TYPES
from pytest_clawperator.contracts.envelope import ResultEnvelope, StepResult
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.remedies import Remedy, RemedyKind

_MISSING_SNAPSHOT = (
    "UI hierarchy extraction produced no output for this step. "
    "Check clawperator version compatibility and logcat extraction health."
)
_UNSETTLED = (
    "snapshot captured without a preceding sleep step; UI may not have settled"
    " - consider adding a sleep step between click and snapshot_ui"
)
#: The proofs of an execution that has none.
NO_PROOFS: Mapping[str, str] = MappingProxyType({})
_TAPS = frozenset(kind.name for kind in ACTION_TYPES.values() if kind.taps)


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What dispatch brought back besides the envelope.

    ``closed`` are the ids of the close_app actions whose force-stop succeeded,
    ``snapshots`` the hierarchies from the log, oldest first, ``screenshot`` the path that
    the picture was written to, ``display`` what it shows of a phone with several displays.
    ``proofs`` are actions that the client sent along to prove others: the id of each, and that
    of the action it is for.
    """

    actions: tuple[Action, ...]
    serial: str
    closed: frozenset[str] = frozenset()
    snapshots: tuple[str, ...] = ()
    screenshot: str | None = None
    screenshot_error: str | None = None
    display: int | None = None
    proofs: Mapping[str, str] = field(default_factory=dict)


Processor = Callable[[ResultEnvelope, Collected], ResultEnvelope]


def needs_snapshots(envelope: ResultEnvelope) -> bool:
    """Whether the log must be searched for hierarchies."""
    return any(step.action_type == "snapshot_ui" for step in envelope.steps)


def needs_screenshot(envelope: ResultEnvelope) -> bool:
    """Whether a screenshot must be taken."""
    return any(step.action_type == "take_screenshot" for step in envelope.steps)


def screenshot_path(actions: Iterable[Action], default: str) -> str:
    """Return the path of the one screenshot of a run: that of the first action that takes one."""
    for action in actions:
        if action.type == "take_screenshot":
            path = action.params.path if action.params else None
            return default if path is None else path
    return default


def postprocess(
    envelope: ResultEnvelope, collected: Collected, processors: Iterable[Processor] | None = None
) -> ResultEnvelope:
    """Fold the processors over the envelope."""
    chain = PROCESSORS if processors is None else processors
    for processor in chain:
        envelope = _checked(processor(envelope, collected), processor)
    return envelope


def _checked(result: object, processor: Processor) -> ResultEnvelope:
    """Raise if a processor returned no envelope."""
    if isinstance(result, ResultEnvelope):
        return result
    code = getattr(processor, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    name = getattr(processor, "__qualname__", type(processor).__name__)
    raise ConfigurationError(
        f"the processor {name}{where} returned {short_repr(result)}, wanted is a ResultEnvelope",
        hint=(
            Remedy(RemedyKind.RETURN_ENVELOPE),
            ", or a changed copy: envelope.model_copy(update={...}).",
        ),
    )


def finish_close_apps(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Turn a close_app step into a success if the host stopped the app."""
    apps = {
        action.id: action.params.application_id
        for action in collected.actions
        if action.type == "close_app" and action.id in collected.closed and action.params
    }

    def finish(step: StepResult) -> StepResult:
        unsupported = step.code == ErrorCode.UNSUPPORTED_RUNTIME_CLOSE
        if step.action_type == "close_app" and step.id in apps and unsupported:
            return changed_step(step, success=True, data={"application_id": apps[step.id]})
        return step

    return with_steps(envelope, map(finish, envelope.steps))


def attach_snapshots(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Attach the hierarchies to the snapshot steps from the end; early ones may be lost."""
    left = list(collected.snapshots)
    steps = list(envelope.steps)
    for place in reversed(range(len(steps))):
        if left and _is_snapshot(steps[place]):
            data = {**steps[place].data, "text": left.pop()}
            steps[place] = changed_step(steps[place], data=data)
    return with_steps(envelope, steps)


def fail_missing_snapshots(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Fail a snapshot step that has no hierarchy."""

    def fail(step: StepResult) -> StepResult:
        if not _is_snapshot(step) or "text" in step.data:
            return step
        code = ErrorCode.SNAPSHOT_EXTRACTION_FAILED.value
        data = {**step.data, "error": code, "message": _MISSING_SNAPSHOT}
        return changed_step(step, success=False, data=data)

    return with_steps(envelope, map(fail, envelope.steps))


def warn_unsettled_snapshots(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Add a warning to a snapshot that was taken straight after a tap."""
    types = ["", *(action.type for action in collected.actions)]
    before = {action.id: types[place] for place, action in enumerate(collected.actions)}

    def warn(step: StepResult) -> StepResult:
        if _is_snapshot(step) and before.get(step.id) in _TAPS:
            return changed_step(step, data={**step.data, "warn": _UNSETTLED})
        return step

    return with_steps(envelope, map(warn, envelope.steps))


def finish_screenshot(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Attach the file to the first screenshot step; a run has one, taken at its end."""
    steps = list(envelope.steps)
    place = next((n for n, s in enumerate(steps) if s.action_type == "take_screenshot"), None)
    if collected.screenshot is None or place is None:
        return envelope
    step, data = steps[place], dict(steps[place].data)
    success = step.success
    if data.get("error") == ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT:
        success = True
        data = {key: value for key, value in data.items() if key not in ("error", "message")}
    data["path"] = collected.screenshot
    if collected.display is not None:
        data["display"] = str(collected.display)
    steps[place] = changed_step(step, success=success, data=data)
    return with_steps(envelope, steps)


def set_proofs_apart(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Leave out the steps that prove others; each of those keeps its look at the screen.

    Where a proof failed, its action has failed for the same reason.
    """
    if not collected.proofs:
        return envelope
    types = {action.id: action.type for action in collected.actions}
    own: dict[str, StepResult] = {}
    looks: dict[str, StepResult] = {}
    for step in envelope.steps:
        owner = collected.proofs.get(step.id)
        if owner is None:
            own[step.id] = step
        elif step.success:
            looks |= {owner: step} if step.action_type == "snapshot_ui" else {}
        else:
            # What the action itself brought before, as a scroll before its tap, is kept.
            data = {**(own[owner].data if owner in own else {}), **step.data}
            own[owner] = changed_step(
                step, id=owner, action_type=types[owner], success=False, data=data
            )
    seen = (changed_step(own[name], look=look) for name, look in looks.items() if name in own)
    return with_steps(envelope, (own | {step.id: step for step in seen}).values())


def reconcile_status(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Derive the status from the steps, if there are any."""
    if not envelope.steps:
        return envelope
    if not envelope.failed_steps:
        changes = {"status": "success", "error": None, "error_code": None, "hint": None}
        reconciled = envelope.model_copy(update=changes)
        # Not merely null: the code is gone from the wire form.
        reconciled.model_fields_set.discard("error_code")
        return reconciled
    step = envelope.failed_steps[0]
    reason = f": {step.data['error']}" if step.data.get("error") else ""
    error = f"Step {step.id} ({step.action_type}) failed{reason}"
    return envelope.model_copy(update={"status": "failed", "error": error, "hint": None})


def hint_at_service(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Add a hint when the accessibility service is off."""
    if envelope.status != "failed" or envelope.error_code != ErrorCode.SERVICE_UNAVAILABLE:
        return envelope
    serial = collected.serial
    hint = (
        f"Accessibility service not running. Run 'clawperator doctor --fix --device {serial}'"
        " to diagnose and repair, or 'clawperator operator setup --apk <path-to-apk>"
        f" --device {serial}' to reinstall."
    )
    return envelope.model_copy(update={"hint": hint})


PROCESSORS: tuple[Processor, ...] = (
    finish_close_apps,
    attach_snapshots,
    fail_missing_snapshots,
    warn_unsettled_snapshots,
    finish_screenshot,
    set_proofs_apart,
    reconcile_status,
    hint_at_service,
)


def warnings_of(envelope: ResultEnvelope, collected: Collected) -> tuple[str, ...]:
    """Return warnings about what went wrong on the host's side."""
    snapshots = [step for step in envelope.steps if step.action_type == "snapshot_ui"]
    lost = [step for step in snapshots if step.data.get("message") == _MISSING_SNAPSHOT]
    warnings = [
        f'[clawperator] WARN: snapshot_ui step "{step.id}" UI hierarchy extraction produced no'
        " output. Run 'clawperator doctor' or 'clawperator version --check-compat' to diagnose."
        for step in lost
    ]
    if collected.screenshot_error is not None:
        warnings.append(
            f"\u26a0\ufe0f Failed to capture screenshot via adb: {collected.screenshot_error}"
        )
    return tuple(warnings)


def _is_snapshot(step: StepResult) -> bool:
    return step.action_type == "snapshot_ui" and step.success


def changed_step(step: StepResult, **changes: Any) -> StepResult:
    """Return a copy of the step with these fields changed."""
    return step.model_copy(update=changes)


def with_steps(envelope: ResultEnvelope, steps: Iterable[StepResult]) -> ResultEnvelope:
    """Return the envelope with these steps; the same object where no step has changed."""
    changed = tuple(steps)
    if len(changed) == len(envelope.steps) and all(map(is_, changed, envelope.steps)):
        return envelope
    return envelope.model_copy(update={"steps": changed})
