"""The device's log as evidence: crashes marked, dumps shortened, secrets hidden."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_clawperator.contracts.log import (
    ENTRY_BYTES,
    MARKER,
    dump_places,
    parse_log_line,
)
from pytest_clawperator.execution.crashes import Crash
from pytest_clawperator.redaction import SECRETS

MARK = ">>> "


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
