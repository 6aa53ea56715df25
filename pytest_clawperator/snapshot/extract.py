"""UI hierarchies out of the device's log.

The Operator logs a marker and then the hierarchy, line by line; long lines are cut into
pieces. :func:`snapshots_from_text` reads the barest log format exactly as the reference
host does, with its weaknesses: it cannot tell whose line is whose. Entries that carry a
process id can, and :func:`snapshots_from_entries` uses that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pytest_clawperator.contracts.ecmascript import trim, utf16_length
from pytest_clawperator.contracts.log import LogEntry

MARKER = "[TaskScope] UI Hierarchy:"
END = "</hierarchy>"
# The Operator's logger cuts a longer line into pieces of exactly this many UTF-16 units.
PIECE_LENGTH = 4000

_PRIORITY_AND_TAG = re.compile(r"[A-Z]/[^:]*:")


def snapshots_from_text(text: str) -> list[str]:
    """Read the output of ``logcat -d -v tag``, oldest hierarchy first."""
    snapshots: list[list[str]] = []
    inside = False
    for message in _messages(text):
        if MARKER in message:
            first = trim(message.split(MARKER)[1])
            snapshots.append([first] if first else [])
            inside = True
        elif inside and trim(message).startswith("["):
            inside = False
        elif inside:
            snapshots[-1].append(message)
            inside = trim(message) != END
    return [joined for lines in snapshots if (joined := trim("\n".join(lines)))]


def _messages(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        prefix = _PRIORITY_AND_TAG.match(line)
        message = line[prefix.end() :].removeprefix(" ") if prefix else trim(line)
        if message:
            yield message


def snapshots_from_entries(entries: Iterable[LogEntry]) -> list[str]:
    """Read log entries, oldest hierarchy first; lines of other processes do no harm."""
    dumps: list[_Dump] = []
    open_dumps: dict[tuple[int, str, str], _Dump] = {}
    for entry in entries:
        source = (entry.pid, entry.priority, entry.tag)
        dump = open_dumps.get(source)
        if dump is not None and dump.is_succeeded_by(entry.message):
            dump.drop_last()
            dump = open_dumps[source] = _Dump()
            dumps.append(dump)
        if dump is not None and dump.takes(entry.message):
            if dump.add(entry.message):
                del open_dumps[source]
        elif entry.message.startswith(MARKER):
            dump = open_dumps[source] = _Dump()
            dumps.append(dump)
            if first := trim(entry.message[len(MARKER) :]):
                dump.add(first)
        else:
            open_dumps.pop(source, None)
    return [text for dump in dumps if (text := dump.text())]


@dataclass
class _Dump:
    """A hierarchy while its lines come in.

    The writer escapes ``"`` and ``<`` inside attribute values, so counting quotes tells
    whether a line begins inside one, where it may look like anything: a log line, a marker.
    """

    lines: list[list[str]] = field(default_factory=list)  # each in its pieces
    in_value: bool = False
    was_cut: bool = False

    def takes(self, message: str) -> bool:
        """Tell whether the message goes on with this hierarchy."""
        return self.in_value or self.was_cut or not message.startswith("[")

    def is_succeeded_by(self, message: str) -> bool:
        """Tell whether what looked like a marker inside a value was one after all.

        A raw ``<`` cannot stand in a value: the log lost the value's end, and the next
        hierarchy began.
        """
        return self.in_value and self.lines[-1][0].startswith(MARKER) and message.startswith("<")

    def drop_last(self) -> None:
        """Take the last line back."""
        self.lines.pop()

    def add(self, message: str) -> bool:
        """Append a line, or a piece of one; True when the hierarchy is complete."""
        if self.was_cut:
            self.lines[-1].append(message)
        else:
            self.lines.append([message])
        self.in_value ^= message.count('"') % 2 == 1
        self.was_cut = utf16_length(message) == PIECE_LENGTH
        return message.strip() == END

    def text(self) -> str:
        """Give the hierarchy so far."""
        return trim("\n".join("".join(pieces) for pieces in self.lines))
