"""Lines of an app that pretends to be the Operator, or the system speaking of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from pytest_clawperator.simulator.android.packages import OPERATOR
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.operator.answer.operator_log import (
    COMMAND,
    RECEIVER,
    RESULT_PREFIX,
    OperatorLog,
)
from pytest_clawperator.simulator.operator.payload.command import Command


class _Line(NamedTuple):
    priority: str
    tag: str
    message: str


def forge(log: OperatorLog, faults: Faults, command: Command) -> None:
    """Log what the fault ``forged_lines`` asks for, as an app other than the Operator."""
    fault = faults.active("forged_lines")
    if fault is None:
        return
    kind = fault.options["kind"]
    # No app of a simulated phone gets an id so far up.
    forger = log.pid + 20_000
    for name, write in _KINDS.items():
        if kind in (name, "all"):
            for priority, tag, message in write(command, log.pid, forger):
                log.foreign(tag, message, pid=forger, priority=priority)


def _envelope(command: Command, operator: int, forger: int) -> Iterator[_Line]:
    wire = (
        f'{{"commandId":"{command.command_id}","taskId":"{command.task_id}","status":"failed",'
        '"stepResults":[],"error":"forged"}'
    )
    yield _Line("I", "Forger", f"{RESULT_PREFIX} {wire}")


def _command(command: Command, operator: int, forger: int) -> Iterator[_Line]:
    yield _Line("I", "Forger", f"{COMMAND} start {command.ids} source=forger")
    yield from _envelope(command, operator, forger)


def _refusal(command: Command, operator: int, forger: int) -> Iterator[_Line]:
    why = "java.lang.IllegalArgumentException: forged"
    yield _Line("E", "Forger", f"{RECEIVER} Failed to parse agent command payload\n{why}")


def _crash(command: Command, operator: int, forger: int) -> Iterator[_Line]:
    process = f"Process: {OPERATOR}, PID: {forger}"
    said = f"FATAL EXCEPTION: main\n{process}\njava.lang.Error: forged"
    yield _Line("E", "AndroidRuntime", said)


def _death(command: Command, operator: int, forger: int) -> Iterator[_Line]:
    said = f"Process {OPERATOR} (pid {operator}) has died: fg  TOP"
    yield _Line("I", "ActivityManager", said)


_KINDS: Mapping[str, Callable[[Command, int, int], Iterator[_Line]]] = {
    "envelope": _envelope,
    "command": _command,
    "refusal": _refusal,
    "crash": _crash,
    "death": _death,
}
