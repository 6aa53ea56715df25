"""Crashes and ANRs (apps that do not respond): find them in a log and mark their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_clawperator.contracts.log import LogEntry, parse_log_line

MARK = ">>> "
# Tags and texts of the system; obfuscated apps do not change them.
_RUNTIME, _NATIVE, _MANAGER = "AndroidRuntime", "DEBUG", "ActivityManager"
_FATAL = "FATAL EXCEPTION"
_PROCESS = re.compile(r"Process: ([\w.:]+)")
_TOMBSTONE = "*** *** ***"
_NATIVE_PROCESS = re.compile(r">>> (\S+) <<<")
_SIGNAL = re.compile(r"signal \d+ \((\w+)\).*")
_ANR = re.compile(r"ANR in ([\w.:]+)")
_REASON = re.compile(r"Reason: (.+)")


@dataclass(frozen=True)
class Crash:
    """A crash or ANR: which process, what happened, why, and the indexes of its log lines."""

    process: str
    what: str
    reason: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.process} {self.what}{f': {self.reason}' if self.reason else ''}"


def find_crashes(lines: Sequence[bytes]) -> list[Crash]:
    """Return all crashes and ANRs, in the order of the log."""
    entries = [parse_log_line(line) for line in lines]
    found: list[Crash] = []
    taken: set[int] = set()
    for place, entry in enumerate(entries):
        if entry is None or place in taken or not _begins(entry):
            continue
        places = tuple(_report_lines(entries, place))
        taken.update(places)
        found.append(_crash(entry, places, [_message(entries, at) for at in places]))
    return found


def marked_log(lines: Sequence[bytes], crashes: Sequence[Crash]) -> str:
    """Return a log as text, with its crashes listed at the top and their lines marked."""
    marked = {place for crash in crashes for place in crash.lines}
    # Line numbers of the file, which begins with the list of crashes.
    above = len(crashes) + 1 if crashes else 0
    head = [f"line {crash.lines[0] + above + 1}: {crash}" for crash in crashes]
    body = (
        (MARK if place in marked else "") + line.decode("utf-8", "replace")
        for place, line in enumerate(lines)
    )
    return "\n".join([*head, *([""] if head else []), *body, ""])


def _begins(entry: LogEntry) -> bool:
    if entry.tag == _RUNTIME:
        return entry.priority == "E" and entry.message.startswith(_FATAL)
    if entry.tag == _NATIVE:
        return entry.priority == "F" and entry.message.startswith(_TOMBSTONE)
    return entry.tag == _MANAGER and entry.message.startswith("ANR in ")


def _report_lines(entries: Sequence[LogEntry | None], start: int) -> Iterator[int]:
    """Yield the indexes of a report's lines; lines of other processes may stand between."""
    first = entries[start]
    assert first is not None
    yield start
    for place in range(start + 1, len(entries)):
        entry = entries[place]
        if entry is None or (entry.pid, entry.tid) != (first.pid, first.tid):
            continue
        if (entry.tag, entry.priority) != (first.tag, first.priority) or _begins(entry):
            return
        yield place


def _message(entries: Sequence[LogEntry | None], place: int) -> str:
    entry = entries[place]
    return entry.message if entry is not None else ""


def _crash(first: LogEntry, places: tuple[int, ...], messages: list[str]) -> Crash:
    text = "\n".join(messages)
    if first.tag == _MANAGER:
        reason = _group(_REASON, text, otherwise="")
        return Crash(_group(_ANR, text), "does not respond (ANR)", reason, places)
    if first.tag == _NATIVE:
        signal = _SIGNAL.search(text)
        process = _group(_NATIVE_PROCESS, text)
        return Crash(process, "crashed", signal[0] if signal else "", places)
    return Crash(_group(_PROCESS, text), "crashed", _exception(messages), places)


def _exception(messages: Sequence[str]) -> str:
    """Return the first line after those that name thread and process."""
    rest = (line for line in messages if not line.startswith((_FATAL, "Process: ", "PID: ")))
    return next(rest, "")


def _group(pattern: re.Pattern[str], text: str, otherwise: str = "an app") -> str:
    found = pattern.search(text)
    return found[1] if found else otherwise
