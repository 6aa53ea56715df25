"""The Operator's answer: step results, and the one line of JSON that carries them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.simulator.operator.answer.operator_log import RESULT_PREFIX, map_text
from pytest_clawperator.simulator.operator.payload.command import Action, Command

SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"

# Steps that only the host can finish say so by failing; they never end a run.
HOST_STEPS = frozenset({"close_app", "take_screenshot"})


@dataclass(frozen=True)
class StepResult:
    """What came of one step."""

    id: str
    action_type: str
    success: bool = True
    data: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"UiActionStepResult(id={self.id}, actionType={self.action_type}, "
            f"success={str(self.success).lower()}, data={map_text(self.data)})"
        )

    @property
    def ends_the_run(self) -> bool:
        """Whether a run as the specification describes it stops here."""
        return not self.success and self.action_type not in HOST_STEPS


def succeeded(action: Action, **data: str | None) -> StepResult:
    """Make the result of a step that worked; what is None is left out."""
    return StepResult(action.id, action.wire_type, data=_present(data))


def failed(action: Action, **data: str | None) -> StepResult:
    """Make the result of a step that did not work; what is None is left out."""
    return StepResult(action.id, action.wire_type, success=False, data=_present(data))


def _present(data: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in data.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """The terminal answer to one command."""

    command_id: str
    task_id: str
    steps: Sequence[StepResult] = ()
    error: str | None = None
    error_code: str | None = None

    def line(self) -> str:
        """Return the log line that carries it."""
        return f"{RESULT_PREFIX} {self.to_json()}"

    def to_json(self) -> str:
        """Return it as compact JSON; control characters are escaped, everything else is raw."""
        wire: dict[str, Any] = {
            "commandId": self.command_id,
            "taskId": self.task_id,
            "status": "success" if self.error is None else "failed",
            "stepResults": [_step_to_wire(step) for step in self.steps],
            "error": self.error,
        }
        if self.error_code is not None:
            wire["errorCode"] = self.error_code
        return json.dumps(wire, ensure_ascii=False, separators=(",", ":"))


def _step_to_wire(step: StepResult) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "id": step.id,
        "actionType": step.action_type,
        "success": step.success,
    }
    if step.data:
        wire["data"] = dict(step.data)
    return wire


def success(command: Command, steps: Sequence[StepResult]) -> Envelope:
    """Make the envelope of a run that came to its end."""
    return Envelope(command_id=command.command_id, task_id=command.task_id, steps=steps)


def failure(
    command: Command,
    error: str,
    *,
    steps: Sequence[StepResult] = (),
    code: str | None = None,
) -> Envelope:
    """Make the envelope of a run that failed."""
    return Envelope(
        command_id=command.command_id,
        task_id=command.task_id,
        steps=steps,
        error=error,
        error_code=code,
    )
