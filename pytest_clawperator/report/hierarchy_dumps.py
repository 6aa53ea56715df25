"""The screens that the Operator dumps into the log, which are longer than all the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pytest_clawperator.contracts.log import parse_log_line
from pytest_clawperator.snapshot.parse import MARKER, dump_places

_MARKER = MARKER.encode()
_COMMAND = re.compile(rb"\[Clawperator-Command\] start commandId=(\S+)")
_STEP = re.compile(rb"step_start id=(\S+)")

#: The id of an execution and that of a step of it.
Step = tuple[str, str]


def without_dumps(lines: Iterable[bytes], *, kept: Mapping[Step, str] | None = None) -> list[bytes]:
    """Return a log in which one line stands for each dump, and says which snapshot it was.

    ``kept`` are the files that have the snapshot of a step.
    """
    log = list(lines)
    left_out: set[int] = set()
    for marker, *rest in dump_places(log):
        if rest:  # else the log ends here, or lost it
            left_out.update(rest)
            log[marker] = _instead(log, marker, len(rest), kept or {})
    return [line for place, line in enumerate(log) if place not in left_out]


def _instead(log: list[bytes], marker: int, count: int, kept: Mapping[Step, str]) -> bytes:
    """Return the line that stands for a dump: its own first one, with what is left out."""
    line = log[marker]
    head = line[: line.index(_MARKER) + len(_MARKER)]
    command, step = _last(log, marker, _COMMAND), _last(log, marker, _STEP)
    which = f"step {step} of {command}, " if step and command else ""
    file = kept.get((command, step))
    where = f"is in {file}" if file else "is left out"
    return head + f" {which}{count} lines; it {where}".encode("utf-8", "surrogateescape")


def _last(log: list[bytes], before: int, pattern: re.Pattern[bytes]) -> str:
    """Return what the process of a line last told of itself before it."""
    entry = parse_log_line(log[before])
    for line in reversed(log[:before]):
        found = pattern.search(line)
        other = parse_log_line(line) if found else None
        if found and entry and other and other.pid == entry.pid:
            return found[1].decode("utf-8", "surrogateescape")
    return ""
