"""How far a run came that ended without step results, according to the Operator's log.

A hard failure drops the results of the steps before it. The Operator logs the begin and
the end of each step, though, and with the end what the step brought.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pytest_clawperator.contracts.actions import ACTION_TYPES, canonical_type
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.log import LogEntry
from pytest_clawperator.contracts.payload import Action, Execution
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.postprocess import (
    Collected,
    reconcile_status,
    with_steps,
)
from pytest_clawperator.execution.result import RunStep
from pytest_clawperator.snapshot.parse import snapshots_from_entries

_ENGINE = "[UiActionEngine]"
_STARTED = f"{_ENGINE} step_start id="
_DONE = f"{_ENGINE} step_success id="
_DATA = " data={"
# How the lines begin that the Operator's main thread may log after the end of a step.
_OTHERS = ("[UiActionEngine] ", "[Clawperator-", "[Task", "[Operator-", "[UiTree")


@dataclass(frozen=True)
class Recovery:
    """The steps that were done according to the log, and the action begun but not done."""

    steps: tuple[RunStep, ...] = ()
    stopped_at: Action | None = None
    last_look: RunStep | None = None
    actions: tuple[Action, ...] = ()
    broke_off: bool = False

    def without(self, proofs: Mapping[str, str]) -> Recovery:
        """Leave out the steps that prove others; where a proof stopped the run, its action did."""
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
    """Read ``k=v, k=v``; values are not quoted, so the known keys say where each ends.

    A value may itself look like that: then nothing of it is told.
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
