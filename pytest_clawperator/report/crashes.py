"""The device's log as evidence: crashes and ANRs found, dumps shortened, secrets hidden.

Any app can log a crash report, so its source is checked: an uncaught exception is reported by
the process that dies of it, an ANR by the system.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_clawperator.contracts.log import (
    ENTRY_BYTES,
    MARKER,
    LogEntry,
    dump_places,
    parse_log_line,
)
from pytest_clawperator.redaction import SECRETS

MARK = ">>> "

# Tags and texts of the system; obfuscated apps do not change them.
_RUNTIME, _NATIVE, _MANAGER = "AndroidRuntime", "DEBUG", "ActivityManager"

_FATAL = "FATAL EXCEPTION"

_PROCESS = re.compile(r"Process: ([\w.:]+)(?:, PID: (\d+))?")

_NAMED = re.compile(r"Start proc (\d+):([\w.:]+)/|Process ([\w.:]+) \(pid (\d+)\) has died")

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


def find_crashes(lines: Sequence[bytes], *, system: Collection[int] | None = None) -> list[Crash]:
    """Return all crashes and ANRs, in the order of the log.

    ``system`` has the ids of the system's processes; with None every process that claims to be
    one is believed.
    """
    entries = [parse_log_line(line) for line in lines]
    names = _names(entries, system)
    found: list[Crash] = []
    taken: set[int] = set()
    for place, entry in enumerate(entries):
        if entry is None or place in taken or not _begins(entry):
            continue
        places = tuple(_report_lines(entries, place))
        taken.update(places)
        messages = [one.message for at in places if (one := entries[at]) is not None]
        if _is_entitled(entry, messages, names, system):
            found.append(_crash(entry, places, messages))
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
    """Yield the indexes of a report's lines; lines of other processes may be in between."""
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


def _names(
    entries: Sequence[LogEntry | None], system: Collection[int] | None
) -> Mapping[int, set[str]]:
    """Return the names that the system logs for processes, by process id."""
    names: dict[int, set[str]] = {}
    for entry in entries:
        if entry is None or entry.tag != _MANAGER or not (system is None or entry.pid in system):
            continue
        named = _NAMED.match(entry.message)
        if named is not None:
            started, name, ended_name, ended = named.groups()
            names.setdefault(int(started or ended), set()).add(name or ended_name)
    return names


def _is_entitled(
    first: LogEntry,
    messages: Sequence[str],
    names: Mapping[int, set[str]],
    system: Collection[int] | None,
) -> bool:
    """Whether the report was logged by a process that can know."""
    if first.tag == _MANAGER:
        return system is None or first.pid in system
    if first.tag == _NATIVE:
        return True  # the crash handler is a process started for it
    claimed = next(filter(None, map(_PROCESS.match, messages)), None)
    if claimed is None:
        return True
    name, pid = claimed.groups()
    is_itself = pid is None or int(pid) == first.pid
    return is_itself and name in names.get(first.pid, {name})


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


_MARKER = MARKER.encode()

_COMMAND = re.compile(rb"\[Clawperator-Command\] start commandId=(\S+)")

_STEP = re.compile(rb"step_start id=(\S+)")

#: The id of an execution and that of a step of it.
Step = tuple[str, str]


def without_dumps(lines: Iterable[bytes], *, kept: Mapping[Step, str] | None = None) -> list[bytes]:
    """Return a log with each dump of a hierarchy replaced by one line that names its snapshot.

    ``kept`` has the files that contain the snapshot of a step.
    """
    log = list(lines)
    left_out: set[int] = set()
    for marker, *rest in dump_places(log):
        if rest:  # else the log ends here, or lost it
            left_out.update(rest)
            log[marker] = _instead(log, marker, len(rest), kept or {})
    return [line for place, line in enumerate(log) if place not in left_out]


def _instead(log: list[bytes], marker: int, count: int, kept: Mapping[Step, str]) -> bytes:
    """Return the line that replaces a dump: its first one, with what is left out."""
    line = log[marker]
    head = line[: line.index(_MARKER) + len(_MARKER)]
    command, step = _last(log, marker, _COMMAND), _last(log, marker, _STEP)
    which = f"step {step} of {command}, " if step and command else ""
    file = kept.get((command, step))
    where = f"is in {file}" if file else "is left out"
    return head + f" {which}{count} lines; it {where}".encode("utf-8", "surrogateescape")


def _last(log: list[bytes], before: int, pattern: re.Pattern[bytes]) -> str:
    """Return the last match before a line among the lines of the same process."""
    entry = parse_log_line(log[before])
    for line in reversed(log[:before]):
        found = pattern.search(line)
        other = parse_log_line(line) if found else None
        if found and entry and other and other.pid == entry.pid:
            return found[1].decode("utf-8", "surrogateescape")
    return ""


_MARK = MARK.encode()


def hide_in_log(content: bytes) -> bytes:
    """Return the content of a log file with each secret replaced by a mark.

    Long messages are cut into several lines, so a secret may span two of them.
    """
    if SECRETS.is_empty:
        return content
    lines = content.split(b"\n")
    for chain in _chains(lines):
        messages = [lines[place].partition(b": ")[2] for place in chain]
        # The end of the last one may be lost, too.
        for place, old, new in zip(chain, messages, _hidden(messages), strict=True):
            lines[place] = lines[place][: len(lines[place]) - len(old)] + new
    return SECRETS.hide_bytes(b"\n".join(lines))


def _hidden(messages: list[bytes]) -> list[bytes]:
    parts = [message.decode("utf-8", "surrogateescape") for message in messages]
    hidden = SECRETS.hide_across([*parts, ""])[:-1]
    return [part.encode("utf-8", "surrogateescape") for part in hidden]


def _chains(lines: list[bytes]) -> list[list[int]]:
    """Return, for each message that was cut, the indexes of its lines."""
    found: list[list[int]] = []
    unfinished: dict[object, list[int]] = {}
    for place, line in enumerate(lines):
        entry = parse_log_line(line.removeprefix(_MARK))
        if entry is None:
            continue
        writer = (entry.source, entry.tid)
        chain = unfinished.pop(writer, [])
        if entry.is_cut or len(line) >= ENTRY_BYTES:  # by the logger, or by the log
            unfinished[writer] = chain
            found += [] if chain else [chain]
            chain.append(place)
        elif chain:
            chain.append(place)
    return found
