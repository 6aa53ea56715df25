"""Find the answer to a command in the log: the envelope, or a sign that none will come.

Pure: lines go in, an answer comes out. The Operator's lines are recognised by their text and
process id, never by their tag, which release builds obfuscate; and by their priority,
because hierarchies, which hold text from the screen, are logged with the lowest one.
At a relevant line of an unknown process the reader stops, until it is given the processes that
run now.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pytest_clawperator.contracts.envelope import (
    RESULT_PREFIX,
    ResultEnvelope,
    parse_result_message,
)
from pytest_clawperator.contracts.log import ENTRY_BYTES, LogEntry, message_filter, parse_log_line
from pytest_clawperator.errors import EnvelopeMalformedError
from pytest_clawperator.execution.processes import LIFE_SIGNS, Processes, ended_process

_COMMAND = "[Clawperator-Command] "
_RECEIVER = "[Operator-Receiver] "
_REFUSALS = (
    f"{_RECEIVER}Failed to parse agent command payload",
    f"{_RECEIVER}Missing required agent payload extra",
)
_NO_SERVICE = f"{_RECEIVER}Accessibility service is not available and failed to parse"
_CRASH = "FATAL EXCEPTION"
_RELEVANT = message_filter(
    b"IWEF",
    rb"\[Clawperator-(?:Result|Command)\]",
    rb"\[Operator-Receiver\]",
    rb"FATAL EXCEPTION",
    *LIFE_SIGNS,
)


@dataclass(frozen=True)
class Answered:
    """The envelope came, from this process."""

    envelope: ResultEnvelope
    pid: int


@dataclass(frozen=True)
class Refused:
    """The Operator could not read the payload, for this ``reason``."""

    reason: str
    service_off: bool = False


@dataclass(frozen=True)
class Crashed:
    """The Operator's process ended; ``reason`` is the first line about it."""

    reason: str


Answer = Answered | Refused | Crashed


@dataclass
class _Pending:
    """A refusal or a crash whose reason is in the lines after it."""

    source: tuple[int, str, str]
    is_crash: bool
    is_ours: bool
    answer: Refused | Crashed


@dataclass
class AnswerReader:
    """Reads the log for the answer to one command.

    ``pid`` is the process that took the command. ``processes`` are those that are trusted;
    None trusts them all. ``malformed`` is the last envelope that could not be read and does not
    name its command.
    """

    command_id: str
    operator_package: str
    processes: Processes | None = None
    pid: int | None = None
    malformed: EnvelopeMalformedError | None = None
    _pieces: list[LogEntry] = field(default_factory=list)
    _pending: _Pending | None = None
    _unread: list[bytes] = field(default_factory=list)
    _doubted: int = 0
    _strangers: set[int] = field(default_factory=set)

    @property
    def is_taken(self) -> bool:
        """Whether the Operator logged that it has the command."""
        return self.pid is not None

    @property
    def unconfirmed(self) -> Refused | Crashed | None:
        """A refusal or crash whose reason has not come yet, and may never come."""
        pending = self._pending
        return pending.answer if pending is not None and pending.is_ours else None

    @property
    def is_in_doubt(self) -> bool:
        """Whether reading stopped at a line of an unknown process; then call ``settle``."""
        return bool(self._unread)

    def feed(self, lines: Iterable[bytes]) -> Answer | None:
        """Read more lines; return the answer if it is there, raise if our envelope is malformed."""
        rest = iter(lines)
        for line in rest:
            if self._pieces or self._pending is not None or _RELEVANT.match(line):
                entry = parse_log_line(line)
                if entry is None:
                    continue
                if self._is_doubtful(entry):
                    self._unread, self._doubted = [line, *rest], entry.pid
                    return None
                answer = self._hear(entry)
                if answer is not None:
                    return answer
        return None

    def settle(self, processes: Processes | None) -> Answer | None:
        """Go on reading with the processes that run now.

        Older lines may also come from an Operator process that has ended since.
        """
        before, now = self.processes, processes or self.processes
        if before is not None and now is not None:
            self.processes = replace(now, operator=now.operator | before.operator)
        answer = None
        while self._unread and answer is None:
            lines, self._unread = self._unread, []
            answer = self.feed(lines)
            if self._unread:  # its process is not the Operator's
                self._strangers.add(self._doubted)
        self.processes = now
        return answer

    def _is_doubtful(self, entry: LogEntry) -> bool:
        """Whether the line matters if the Operator wrote it, and it is unknown whether it did."""
        known = self.processes
        if known is None or entry.pid in self._strangers:
            return False
        if entry.pid in known.operator or entry.pid in known.system:
            return False
        message = entry.message
        return message.startswith((RESULT_PREFIX, _RECEIVER, _CRASH)) or (
            message.startswith(_COMMAND) and self._is_about_us(message)
        )

    def _hear(self, entry: LogEntry) -> Answer | None:
        """Read a line according to its process: the Operator's, the system's, or another."""
        known = self.processes
        if known is not None and entry.pid in known.operator:
            return self._read(entry)
        is_system = known is None or entry.pid in known.system
        if is_system and self.is_taken and ended_process(entry.message) == self.pid:
            return Crashed(entry.message)
        if known is None:
            return self._read(entry)
        self.processes = known.after(entry)
        return None

    def _read(self, entry: LogEntry) -> Answer | None:
        if self._pieces and entry.source == self._pieces[0].source:
            return self._read_envelope([*self._pieces, entry])
        if self._pending is not None and entry.source == self._pending.source:
            return self._read_reason(self._pending, entry)
        return self._read_news(entry)

    def _read_news(self, entry: LogEntry) -> Answer | None:
        message = entry.message
        if entry.priority == "I" and message.startswith(RESULT_PREFIX):
            return self._read_envelope([entry])
        if message.startswith(_COMMAND) and self._is_about_us(message):
            self.pid = entry.pid
        elif entry.priority == "E" and message.startswith(_RECEIVER):
            self._note_refusal(entry)
        elif entry.priority in "EF" and message.startswith(_CRASH):
            crash = Crashed(message)
            self._pending = _Pending(entry.source, True, False, crash)
        return None

    def _is_about_us(self, message: str) -> bool:
        return f" commandId={self.command_id} " in f"{message} "

    def _read_envelope(self, pieces: list[LogEntry]) -> Answer | None:
        """Read the envelope from its pieces; keep them while there is more to come."""
        self._pieces = []
        first = pieces[0]
        if self.pid is not None and first.pid != self.pid:
            return None
        message = "".join(piece.message for piece in pieces)
        try:
            envelope = parse_result_message(message, self.command_id)
        except EnvelopeMalformedError as error:
            if pieces[-1].is_cut:
                self._pieces = pieces
            elif self._is_our_envelope(message):
                raise _explained(error, pieces[-1]) from error
            elif error.details["commandId"] is None:
                self.malformed = _explained(error, pieces[-1])
            return None
        return Answered(envelope, first.pid) if envelope is not None else None

    def _is_our_envelope(self, message: str) -> bool:
        named = re.compile(r'"commandId"\s*:\s*' + re.escape(json.dumps(self.command_id)))
        return named.search(message) is not None

    def _note_refusal(self, entry: LogEntry) -> None:
        """Note a refusal. It names no command, so it is ours unless the Operator took ours."""
        message = entry.message
        service_off = message.startswith(_NO_SERVICE)
        if self.is_taken or not (service_off or message.startswith(_REFUSALS)):
            return
        refusal = Refused(message.removeprefix(_RECEIVER), service_off)
        self._pending = _Pending(entry.source, False, True, refusal)

    def _read_reason(self, pending: _Pending, entry: LogEntry) -> Answer | None:
        if pending.is_crash and not pending.is_ours:
            # The line after the first names the process: any app may crash while we wait.
            process = f"Process: {self.operator_package}, PID: {entry.pid}"
            is_ours = entry.message.startswith(process) or entry.pid == self.pid
            pending.is_ours = is_ours
            if not is_ours:
                self._pending = None
            return None
        self._pending = None
        reason = entry.message.strip()
        if pending.is_crash:
            return Crashed(reason)
        assert isinstance(pending.answer, Refused)
        return Refused(reason, pending.answer.service_off)


def _explained(error: EnvelopeMalformedError, last: LogEntry) -> EnvelopeMalformedError:
    """Add to the error that the log cut the envelope, if its length shows that."""
    if len(last.message.encode("utf-8", "replace")) < ENTRY_BYTES:
        return error
    return EnvelopeMalformedError(
        error.message,
        hint="The device's log cut it: an entry keeps about 4,000 bytes. "
        "Read fewer or shorter texts in one execution.",
        details=error.details,
    )
