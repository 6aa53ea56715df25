"""A pipeline on a scripted device, and its answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_clawperator import complete_execution
from pytest_clawperator.contracts.events import Event
from pytest_clawperator.execution.flight import Flight, Unfinished
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.execution.processes import Processes
from pytest_clawperator.execution.result import RunResult
from tests.doubles.log import LoggedTransport, line

PACKAGE = "com.clawperator.operator"


XML = '<hierarchy rotation="0"><node text=\'a\' bounds="[0,0][1,1]" /></hierarchy>'


def envelope(command_id: str, *steps: dict[str, Any], **changes: Any) -> bytes:
    """Print the line of a result envelope."""
    wire = {
        "commandId": command_id,
        "taskId": "t",
        "status": "success",
        "stepResults": list(steps),
        "error": None,
        **changes,
    }
    return line(f"[Clawperator-Result] {json.dumps(wire)}")


def step(kind: str, *, id: str = "a", success: bool = True, **data: str) -> dict[str, Any]:
    """Return a step result."""
    return {"id": id, "actionType": kind, "success": success, "data": data}


class Bench:
    """A pipeline on a scripted device, with its observers."""

    def __init__(
        self,
        folder: Path,
        transport: LoggedTransport,
        *,
        processes: Processes | None = None,
        **options: Any,
    ) -> None:
        self.transport = transport
        self.processes = processes
        self.events: list[Event] = []
        self.preflights = 0
        self.flight = Flight("PH1", folder=folder, clock=transport.clock)
        self.pipeline = Pipeline(
            transport,
            operator_package=PACKAGE,
            flight=self.flight,
            preflight=self.preflight,
            observers=[self.events.append],
            clock=transport.clock,
            **options,
        )

    def preflight(self) -> Processes | None:
        """Count the checks of the device; return its processes."""
        self.preflights += 1
        return self.processes

    def unfinished(self) -> Unfinished | None:
        """Return the command that may be on the device."""
        return self.flight.peek()

    def run(self, *actions: dict[str, Any], command_id: str = "cmd-1") -> RunResult:
        """Run some actions."""
        payload = {"commandId": command_id, "actions": list(actions)}
        return self.pipeline.run(complete_execution(payload))

    def answer(self, *script: tuple[float, bytes | Exception]) -> None:
        """Script the answer to the next broadcast."""
        self.transport.log.script = script
        self.transport.log.sent_at = None


MakeBench = Callable[..., Bench]


SLEEP = {"id": "a", "type": "sleep", "params": {"durationMs": 0}}


SNAPSHOT = {"id": "a", "type": "snapshot_ui"}


SHOT = step("take_screenshot", success=False, error="UNSUPPORTED_RUNTIME_SCREENSHOT")
