"""Result envelopes: how they are built, logged, and forged by faults."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_clawperator.simulator.android.packages import OPERATOR
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator.command import Action, Command
from pytest_clawperator.simulator.operator.operator_log import (
    COMMAND,
    RECEIVER,
    RESULT_PREFIX,
    JavaError,
    OperatorLog,
    ProcessDied,
    Source,
    map_text,
)

SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"
# Steps that only the host can finish fail on the phone, but never end a run.
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

    def to_wire(self) -> dict[str, Any]:
        """Return it as it stands in an envelope."""
        wire = {"id": self.id, "actionType": self.action_type, "success": self.success}
        return {**wire, "data": dict(self.data)} if self.data else wire

    @property
    def ends_the_run(self) -> bool:
        """Whether a run as the specification describes it stops here."""
        return not self.success and self.action_type not in HOST_STEPS


def succeeded(action: Action, **data: str | None) -> StepResult:
    """Make the result of a step that worked; what is None is left out."""
    return StepResult(action.id, action.type, data=_present(data))


def failed(action: Action, **data: str | None) -> StepResult:
    """Make the result of a step that did not work; what is None is left out."""
    return StepResult(action.id, action.type, success=False, data=_present(data))


def _present(data: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in data.items() if value is not None}


@dataclass(frozen=True)
class Envelope:
    """The terminal answer to one command; without an ``error`` the command succeeded."""

    command: Command
    steps: Sequence[StepResult] = ()
    error: str | None = None
    error_code: str | None = None

    def line(self) -> str:
        """Return the log line with its compact JSON; only control characters are escaped."""
        wire: dict[str, Any] = {
            "commandId": self.command.command_id,
            "taskId": self.command.task_id,
            "status": "success" if self.error is None else "failed",
            "stepResults": [step.to_wire() for step in self.steps],
            "error": self.error,
        }
        if self.error_code is not None:
            wire["errorCode"] = self.error_code
        return f"{RESULT_PREFIX} {json.dumps(wire, ensure_ascii=False, separators=(',', ':'))}"


async def write_envelope(
    log: OperatorLog, faults: Faults, source: Source, envelope: Envelope
) -> None:
    """Log an envelope as the faults have it; raise ProcessDied where the app crashes instead."""
    if faults.take("operator_crash"):
        raise ProcessDied(JavaError("the Operator was told to crash"))
    if faults.take("no_envelope"):
        return
    late = faults.take("late_envelope")
    if late is not None:
        await asyncio.sleep(_milliseconds(late.options["ms"]) / 1000)
    other = faults.take("foreign_envelope")
    if other is not None:
        command_id = other.options["command_id"]
        command = replace(envelope.command, command_id=command_id, task_id="another-task")
        log.info(source, Envelope(command).line())
    line = envelope.line()
    if faults.take("half_envelope"):
        line = line[: len(line) // 2]
    log.info(source, line)
    if faults.take("double_envelope"):
        log.info(source, line)


def _milliseconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return min(max(number, 0.0), 600_000.0) if math.isfinite(number) else 0.0


def forge(log: OperatorLog, faults: Faults, command: Command) -> None:
    """Log what the fault ``forged_lines`` asks for, as an app other than the Operator."""
    fault = faults.active("forged_lines")
    if fault is None:
        return
    # No app of a simulated phone gets an id so far up.
    forger = log.pid() + 20_000
    answer = ("I", "Forger", Envelope(command, error="forged").line())
    start = ("I", "Forger", f"{COMMAND} start {command.ids} source=forger")
    why = "java.lang.IllegalArgumentException: forged"
    refusal = f"{RECEIVER} Failed to parse agent command payload\n{why}"
    crash = f"FATAL EXCEPTION: main\nProcess: {OPERATOR}, PID: {forger}\njava.lang.Error: forged"
    death = f"Process {OPERATOR} (pid {log.pid()}) has died: fg  TOP"
    kinds = {
        "envelope": [answer],
        "command": [start, answer],
        "refusal": [("E", "Forger", refusal)],
        "crash": [("E", "AndroidRuntime", crash)],
        "death": [("I", "ActivityManager", death)],
    }
    for kind, lines in kinds.items():
        if fault.options["kind"] in (kind, "all"):
            for priority, tag, message in lines:
                log.foreign(tag, message, pid=forger, priority=priority)
