"""Send a payload and wait for its envelope: broadcast it, then read the log."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator import errors
from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.log import parse_log_line
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.answer import Answer, Answered, AnswerReader, Crashed, Refused
from pytest_clawperator.execution.processes import KnownProcesses
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.interface import Log, ShellResult, Transport
from pytest_clawperator.transport.shell import broadcast_command

# The answer of a quick device is there before the broadcast's own end is worth waiting for.
HEAD_START = 0.02
# What the host waits beyond the execution's own limit.
ENVELOPE_MARGIN = 5.0
# An Operator logs immediately that it took a command; after this silence the cause is searched.
SILENCE = 1.5
# How long the reason of a refusal or a crash may take to follow it in the log.
LAST_WORDS = 0.25
_SHOWN_LINES = 15


@dataclass(frozen=True)
class Command:
    """A payload to send: its text, and what is needed to recognise its answer.

    ``timeout`` is the limit that the payload sets, ``patience`` how long the host waits for
    the envelope, both in seconds.
    """

    command_id: str
    task_id: str
    text: str
    timeout: float
    last_action: tuple[str, str]
    patience: float

    @classmethod
    def of(cls, execution: Execution) -> Command:
        """Return an execution as a command."""
        last = execution.actions[-1]
        return cls(
            command_id=execution.command_id,
            task_id=execution.task_id,
            text=execution.to_json(),
            timeout=execution.timeout_ms / 1000,
            last_action=(last.id, last.type),
            patience=execution.timeout_ms / 1000 + ENVELOPE_MARGIN,
        )

    @classmethod
    def ping(cls, patience: float) -> Command:
        """Return the Operator's own ping, which no payload may contain."""
        command_id = f"ping-{uuid.uuid4().hex[:16]}"
        payload = {
            "commandId": command_id,
            "taskId": "ping",
            "source": limits.SOURCE,
            "expectedFormat": limits.EXPECTED_FORMAT,
            "timeoutMs": limits.MIN_TIMEOUT_MS,
            "actions": [{"id": "ping", "type": "doctor_ping"}],
        }
        return cls(
            command_id=command_id,
            task_id="ping",
            text=json.dumps(payload),
            timeout=limits.MIN_TIMEOUT_MS / 1000,
            last_action=("ping", "doctor_ping"),
            patience=patience,
        )


@dataclass(frozen=True)
class Reply:
    """The envelope of a command, the process that sent it, and the part of the log it is in."""

    envelope: ResultEnvelope
    pid: int
    start: int
    end: int


def dispatch(
    transport: Transport,
    command: Command,
    *,
    operator_package: str,
    processes: KnownProcesses,
    find_cause: Callable[[], None],
    on_arrival: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> Reply:
    """Send the command and wait for its envelope.

    ``processes`` are those that are trusted; the device is asked for them again when an unknown
    process answers. ``find_cause`` is called once when the Operator stays silent; it raises the
    cause, or returns, and the wait goes on. ``on_arrival`` is called when the device
    has the command, unless the envelope comes first.
    """
    begin, log = clock(), transport.log
    start = log.mark()
    known = processes.catch_up(log, start)
    transport.quick_shell.start(broadcast_command(operator_package, command.text))
    wait = _Wait(
        transport, log, command, operator_package, processes, find_cause, on_arrival, clock, begin
    )
    reader = AnswerReader(command.command_id, operator_package, known)
    try:
        answer, end = wait.for_answer(reader, start)
    except errors.EnvelopeMalformedError as exc:
        exc.serial = transport.serial
        raise
    processes.keep(reader.processes, end)
    if isinstance(answer, Answered):
        return Reply(answer.envelope, answer.pid, start, end)
    raise _error_of(answer, transport.serial, operator_package, command)


@dataclass(frozen=True)
class _Wait:
    """The wait for the answer to one command."""

    transport: Transport
    log: Log
    command: Command
    operator_package: str
    processes: KnownProcesses
    find_cause: Callable[[], None]
    on_arrival: Callable[[], None]
    clock: Callable[[], float]
    begin: float

    def for_answer(self, reader: AnswerReader, start: int) -> tuple[Answer, int]:
        """Read the log until it has the answer; return that and the position after it."""
        answer, position = self._read(reader, start, self.clock() + HEAD_START)
        if answer is None:
            self._check_broadcast()
            self.on_arrival()
            answer, position = self._read(reader, position, self.clock() + SILENCE)
        if answer is None and not reader.is_taken:
            self.find_cause()
        if answer is None:
            answer, position = self._read(reader, position, self._deadline)
        if answer is None:
            raise reader.malformed or self._timeout(start, reader)
        return answer, position

    @property
    def _deadline(self) -> float:
        return self.begin + self.command.patience

    def _read(self, reader: AnswerReader, position: int, until: float) -> tuple[Answer | None, int]:
        """Read on from a position, at most until a time; return the answer and the new position."""
        log, until = self.log, min(until, self._deadline)
        is_confirming = False
        while True:
            end = log.wait(position, until)
            answer = reader.feed(log.read(position, end))
            if reader.is_in_doubt:
                answer = reader.settle(self.processes.ask())
            if answer is not None:
                return answer, end
            if reader.unconfirmed is not None and not is_confirming:
                is_confirming, until = True, self.clock() + LAST_WORDS
            elif self.clock() >= until:
                return reader.unconfirmed, end
            position = end

    def _check_broadcast(self) -> None:
        left = max(self._deadline - self.clock(), 0.0)
        result = self.transport.quick_shell.result(left)
        _check_broadcast(result, self.transport.serial, self.operator_package)

    def _timeout(self, start: int, reader: AnswerReader) -> errors.EnvelopeTimeoutError:
        command, elapsed = self.command, self.clock() - self.begin
        lines = _newest_lines(self.log, start, reader)
        taken = "took the command" if reader.is_taken else "gave no sign of having the command"
        shown = "\n".join(["", "  last lines of its log:", *(f"    {line}" for line in lines)])
        return errors.EnvelopeTimeoutError(
            f"no result envelope came within {elapsed:.1f} s; the broadcast was sent, "
            f"and the Operator {taken}{shown if lines else ''}",
            serial=self.transport.serial,
            hint=_TIMEOUT_HINTS[reader.is_taken],
            details={
                "commandId": command.command_id,
                "taskId": command.task_id,
                "lastActionId": command.last_action[0],
                "lastActionType": command.last_action[1],
                "elapsedMs": round(elapsed * 1000),
                "timeoutMs": round(command.timeout * 1000),
                "broadcastDispatchStatus": "sent",
                "operatorPackage": self.operator_package,
                "lastCorrelatedEvents": lines,
            },
        )


_TIMEOUT_HINTS = {
    True: "The actions may take longer than the execution's timeout: raise it "
    "(execute(..., timeout=seconds)), or send fewer actions together. The device may still be "
    "acting; the next execution waits for it.",
    False: "Check that the Operator app and this package are of the same major.minor version, "
    "that its accessibility service is on, and that the device's log keeps debug lines.",
}


def _newest_lines(log: Log, start: int, reader: AnswerReader) -> list[str]:
    """Return the newest lines of the Operator, or of any process if it logged nothing.

    Lines of hierarchies are left out: they would crowd out all others.
    """
    parsed = ((parse_log_line(line), line) for line in log.read(start) if line)
    lines = [
        line
        for entry, line in parsed
        if entry is None or not (entry.priority == "D" and entry.message.lstrip().startswith("<"))
        if reader.pid is None or (entry is not None and entry.pid == reader.pid)
    ]
    return [line.decode("utf-8", "replace")[:300] for line in lines[-_SHOWN_LINES:]]


def _check_broadcast(result: ShellResult, serial: str, operator_package: str) -> None:
    if result.ok:
        return
    said = result.stderr.strip() or result.stdout.strip() or "nothing"
    details = {
        "exitCode": result.exit_code,
        "stdout": result.stdout,
        "stderr": result.stderr,
        "broadcastDispatchStatus": f"failed: {result.stderr.strip()}",
        "operatorPackage": operator_package,
    }
    if "Target package not found" in said or "does not exist" in said:
        raise errors.OperatorNotReadyError(
            f"the Operator app {operator_package} is not installed: {said}",
            code=ErrorCode.OPERATOR_NOT_INSTALLED,
            serial=serial,
            hint=Remedy(RemedyKind.INSTALL_OPERATOR, operator_package),
            details=details,
        )
    raise errors.BroadcastError(
        f"the device refused the broadcast with exit code {result.exit_code}: {said}",
        serial=serial,
        hint="Try `adb shell am broadcast -a test` by hand; a device that is still starting, "
        "or low on memory, refuses broadcasts.",
        details=details,
    )


def _error_of(
    answer: Refused | Crashed, serial: str, operator_package: str, command: Command
) -> errors.ClawperatorError:
    """Return the error for an answer other than an envelope."""
    details = {"commandId": command.command_id, "taskId": command.task_id, "reason": answer.reason}
    if isinstance(answer, Crashed):
        return errors.OperatorNotReadyError(
            f"the Operator app {operator_package} crashed during the execution: {answer.reason}",
            code=ErrorCode.OPERATOR_CRASHED,
            serial=serial,
            hint=Remedy(RemedyKind.RECOVER_FROM_CRASH),
            details=details,
        )
    if answer.service_off:
        return errors.OperatorNotReadyError(
            f"the Operator's accessibility service is off: {answer.reason}",
            code=ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING,
            serial=serial,
            hint=Remedy(RemedyKind.RESTORE_SERVICE),
            details=details,
        )
    return errors.PayloadRefusedError(
        f"the Operator could not read the payload: {answer.reason}",
        serial=serial,
        hint="It reads more strictly than the contract: no blank texts, whole numbers for times, "
        "and known values for direction, clickType and validator.",
        details=details,
    )
