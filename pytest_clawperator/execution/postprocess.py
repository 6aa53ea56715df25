"""Post-processing: what the host adds to an envelope before it is returned.

All I/O is over when this begins: dispatch brings back one :class:`Collected`, and every
processor is a pure function of the envelope and that. They are folded in order; adding a
rule is adding a function and its name to :data:`PROCESSORS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import is_
from reprlib import repr as short_repr
from types import MappingProxyType
from typing import Any

from pytest_clawperator.contracts.actions import ACTION_TYPES, canonical_type
from pytest_clawperator.contracts.envelope import ResultEnvelope, StepResult, is_garbled
from pytest_clawperator.contracts.log import LogEntry, snapshots_from_entries
from pytest_clawperator.contracts.payload import Action, Execution
from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.execution.result import RunStep
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
    """What the run collected in addition to the envelope.

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
    """Raise if a processor returned anything but an envelope."""
    if isinstance(result, ResultEnvelope):
        return result
    code = getattr(processor, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    name = getattr(processor, "__qualname__", type(processor).__name__)
    raise ConfigurationError(
        f"the processor {name}{where} returned {short_repr(result)}, expected a ResultEnvelope",
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
    """Leave out the steps that prove others; the proved step keeps the snapshot.

    If a proof failed, its action has failed for the same reason.
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
            # Data of the action itself, such as a scroll's before its tap, is kept.
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
    """Return the envelope with these steps; the same object if no step has changed."""
    changed = tuple(steps)
    if len(changed) == len(envelope.steps) and all(map(is_, changed, envelope.steps)):
        return envelope
    return envelope.model_copy(update={"steps": changed})


# Rules that are stricter than the published program. A raw payload keeps the answer that the
# published program gives; what the client's own methods send is judged by these as well, inside
# the run, so that observers, hooks and reports see the same outcome as the test.

TARGET_FOUND = "TARGET_FOUND"


def fail_missed_searches(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Fail a scroll_until that ended without its target, which some Operators call a success."""
    searches = {
        action.id
        for action in collected.actions
        if action.type == "scroll_until" and action.params and action.params.matcher
    }
    if not searches:
        return envelope

    def fail(step: StepResult) -> StepResult:
        reason = step.data.get("termination_reason")
        # If the tap is sent separately, it misses its node after the scroll did.
        is_missed_twice = reason is not None and step.code == ErrorCode.NODE_NOT_FOUND
        is_judged = step.id in searches and (step.success or is_missed_twice)
        if not is_judged or reason == TARGET_FOUND:
            return step
        data = {**step.data, "error": ErrorCode.TARGET_NOT_FOUND.value}
        return changed_step(step, success=False, data=data)

    judged = with_steps(envelope, map(fail, envelope.steps))
    return envelope if judged is envelope else reconcile_status(judged, collected)


def restore_garbled_failure(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
    """Replace an error that a percent sign garbled by the one that the Operator meant.

    The published Operator uses its failures, with the matchers and addresses in them, as format
    strings.
    """
    if envelope.error is None or envelope.failed_steps or not is_garbled(envelope.error):
        return envelope
    meant = next(filter(None, map(_failure_with_percent, collected.actions)), None)
    return envelope if meant is None else envelope.model_copy(update={"error": meant})


def _failure_with_percent(action: Action) -> str | None:
    """Return the failure of an action whose matcher or address holds a percent sign."""
    params = action.params
    if params is None:
        return None
    matchers = (params.matcher, params.expected_node, params.label_matcher)
    if any("%" in word for m in matchers if m is not None for word in m.to_wire().values()):
        return "No UI node found"
    return f"URI_NOT_HANDLED: {params.uri}" if params.uri and "%" in params.uri else None


#: The rules for what the client's own methods send.
JUDGEMENTS: tuple[Processor, ...] = (fail_missed_searches, restore_garbled_failure)

# How far a run came whose envelope has no step results. A hard failure drops the results of the
# steps before it, but the Operator logs the start and end of each step, with its data.

_ENGINE = "[UiActionEngine]"
_STARTED = f"{_ENGINE} step_start id="
_DONE = f"{_ENGINE} step_success id="
_DATA = " data={"
# How the lines begin that the Operator's main thread may log after the end of a step.
_OTHERS = ("[UiActionEngine] ", "[Clawperator-", "[Task", "[Operator-", "[UiTree")


@dataclass(frozen=True)
class Recovery:
    """The steps that were done according to the log, and the action that was begun but not done."""

    steps: tuple[RunStep, ...] = ()
    stopped_at: Action | None = None
    last_look: RunStep | None = None
    actions: tuple[Action, ...] = ()
    broke_off: bool = False

    def without(self, proofs: Mapping[str, str]) -> Recovery:
        """Leave out the steps that prove others; if a proof stopped the run, its action did."""
        looks = {
            proofs[step.id]: step
            for step in self.steps
            if step.id in proofs and step.action_type == "snapshot_ui"
        }
        own = (step for step in self.steps if step.id not in proofs)
        stopped, owner = self.stopped_at, None
        if stopped is not None and stopped.id in proofs:
            owner = next(a for a in self.actions if a.id == proofs[stopped.id])
        return replace(
            self,
            steps=tuple(step.model_copy(update={"look": looks.get(step.id)}) for step in own),
            stopped_at=owner or stopped,
            last_look=next(reversed(looks.values()), None),
            broke_off=owner is not None,
        )

    def completed(self, envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
        """Return the envelope of a run that a proof ended, after its action had failed itself."""
        if not self.broke_off or all(step.success for step in self.steps):
            return envelope
        return reconcile_status(with_steps(envelope, self.steps), collected)


def recover(execution: Execution, entries: Iterable[LogEntry]) -> Recovery:
    """Return how far the run came.

    ``entries`` are those of the Operator's process from the broadcast on.
    """
    own = list(_of_command(execution.command_id, entries))
    done: list[RunStep] = []
    left = list(execution.actions)
    begun: Action | None = None
    for message in _messages(own):
        if left and begun is None and message.startswith(f"{_STARTED}{left[0].id} type="):
            begun = left.pop(0)
        elif begun is not None and message.startswith(f"{_DONE}{begun.id} type="):
            done.append(_step(begun, message))
            begun = None
    return Recovery(_with_snapshots(done, own), begun, actions=execution.actions)


def _of_command(command_id: str, entries: Iterable[LogEntry]) -> Iterator[LogEntry]:
    """Yield the entries of the process that runs the command, from the command's start on."""
    start = f"[Clawperator-Command] start commandId={command_id} "
    pid: int | None = None
    for entry in entries:
        if pid is None and entry.message.startswith(start):
            pid = entry.pid
        if pid == entry.pid:
            yield entry


def _messages(entries: list[LogEntry]) -> Iterator[str]:
    """Yield the engine's messages, their lines joined again; what else is logged is left out."""
    text: str | None = None
    was_cut = False
    for entry in entries:
        message = entry.message
        if message.startswith(_OTHERS):
            if text is not None:
                yield text
            text = message if message.startswith(_ENGINE) else None
        elif text is not None:
            text = f"{text}{message}" if was_cut else f"{text}\n{message}"
        was_cut = entry.is_cut
    if text is not None:
        yield text


def _step(action: Action, message: str) -> RunStep:
    printed = message.partition(_DATA)[2].rstrip().removesuffix("}")
    is_whole = message.rstrip().endswith("}")
    data = _parsed(printed, _possible_keys(action)) if is_whole else {}
    success = "error" not in data
    if data.get("error") == ErrorCode.UNSUPPORTED_RUNTIME_CLOSE:
        # The host closed the app before anything was sent.
        success, data = True, {"application_id": data.get("application_id", "")}
    return RunStep.model_validate(
        {"id": action.id, "actionType": action.type, "success": success, "data": data}
    ).model_copy(update={"is_recovered": True})


def _possible_keys(action: Action) -> tuple[str, ...]:
    """Return the keys that the action's data may have, in the order in which they are printed."""
    keys = ACTION_TYPES[canonical_type(action.type)].logs
    reads_one = action.type == "read_text" and not (action.params and action.params.all)
    return tuple(key for key in keys if key not in ("all", "count")) if reads_one else keys


def _parsed(printed: str, keys: tuple[str, ...]) -> dict[str, str]:
    """Read ``k=v, k=v``; values are not quoted, so the known keys show where each ends.

    A value may itself look like that: then nothing is returned of it.
    """
    if not keys:
        return {}
    found = list(re.finditer(rf"(?:\A|, )({'|'.join(keys)})=", printed))
    places = [keys.index(each[1]) for each in found]
    is_failure = printed.startswith("error=")
    failed_late = not is_failure and "error" in keys and keys.index("error") in places
    is_clear = places == sorted(set(places)) and not (failed_late and "text" in keys)
    if not found:
        return {}
    if not is_clear:
        return {"error": found[1].string[found[0].end() : found[1].start()]} if is_failure else {}
    ends = [each.start() for each in found[1:]] + [len(printed)]
    return {each[1]: printed[each.end() : end] for each, end in zip(found, ends, strict=True)}


def _with_snapshots(steps: list[RunStep], entries: list[LogEntry]) -> tuple[RunStep, ...]:
    """Add the hierarchies to snapshot steps, if the log has one for each."""
    taken = [step for step in steps if step.action_type == "snapshot_ui" and step.success]
    found = snapshots_from_entries(entries) if taken else []
    if len(found) < len(taken):
        return tuple(steps)
    texts = dict(zip((step.id for step in taken), found, strict=False))
    return tuple(
        step.model_copy(update={"data": {**step.data, "text": texts[step.id]}})
        if step.id in texts
        else step
        for step in steps
    )
