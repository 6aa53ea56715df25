"""The device's log: the format that logcat is asked for, its lines, and the hierarchies in it.

Everything that depends on the format is in this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pytest_clawperator.contracts.ecmascript import trim, utf16_length

#: What asks logcat for the format that is read here.
FORMAT_OPTION = "-v threadtime"
#: The shell command that prints the device's time as lines have it, for ``logcat -T``.
DEVICE_TIME_COMMAND = "date '+%m-%d %H:%M:%S.000'"
#: How many bytes of a line are its time: ``03-28 10:00:00.000``.
TIME_LENGTH = 18
#: The Operator's logger cuts a longer message into pieces of exactly this many UTF-16 units.
PIECE_LENGTH = 4000
#: The log itself keeps about this many bytes of an entry and drops the rest.
ENTRY_BYTES = 4000

_TIME = re.compile(rb"\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?= )")
# The time, pid, tid, priority, then the tag, padded to eight, and a colon.
_LINE = re.compile(_TIME.pattern + rb" +(\d+) +(\d+) ([A-Z]) (.*?) *:(?: (.*))?", re.DOTALL)
_DIVIDER = b"--------- beginning of "
# How a line of the format `tag` begins, which has neither time nor process.
_PRIORITY_AND_TAG = re.compile(r"[A-Z]/[^:]*:")


class LogEntry(NamedTuple):
    """A printed log line. A message of several lines is several entries with one prefix."""

    pid: int
    tid: int
    priority: str
    tag: str
    message: str

    @property
    def source(self) -> tuple[int, str, str]:
        """What all lines of one message have in common: process, priority and tag."""
        return self.pid, self.priority, self.tag

    @property
    def is_cut(self) -> bool:
        """Whether the Operator's logger cut the message here, and the next piece follows."""
        return utf16_length(self.message) == PIECE_LENGTH


def parse_log_line(line: bytes) -> LogEntry | None:
    """Parse a line; return None for a divider or anything else that is not an entry."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    pid, tid, priority, tag, message = found.groups()
    return LogEntry(
        int(pid),
        int(tid),
        priority.decode(),
        tag.decode("utf-8", "replace"),
        (message or b"").decode("utf-8", "replace"),
    )


def time_of(line: bytes) -> bytes | None:
    """Return the device's time at the beginning of a line, or None."""
    found = _TIME.match(line)
    return found[0] if found else None


def is_divider(line: bytes) -> bool:
    """Whether logcat printed the line between the buffers of the log."""
    return line.startswith(_DIVIDER)


def is_log_line(line: bytes) -> bool:
    """Whether logcat printed the line, and not the shell."""
    return _TIME.match(line) is not None or line.startswith(_DIVIDER)


def message_filter(priorities: bytes, *beginnings: bytes) -> re.Pattern[bytes]:
    """Compile a quick test for raw lines: their priority, and how their message begins.

    ``beginnings`` are regular expressions. Most lines are irrelevant, and parsing each of them
    would take longer.
    """
    wanted = b"|".join(beginnings)
    # The time comes before the priority: most lines are then refused at their first letter.
    return re.compile(rb"[^A-Z]{%d,}[%b] .{0,120}?: (?:%b)" % (TIME_LENGTH, priorities, wanted))


def messages_of_tag_format(text: str) -> Iterator[str]:
    """Yield the messages of ``logcat -v tag``, the barest format, as the reference host does."""
    for line in text.split("\n"):
        prefix = _PRIORITY_AND_TAG.match(line)
        message = line[prefix.end() :].removeprefix(" ") if prefix else trim(line)
        if message:
            yield message


# The Operator logs a marker and then the hierarchy, line by line; long lines are cut into pieces.
# `snapshots_from_text` reads the barest log format exactly as the reference host does, and cannot
# know which process wrote a line; the other two readers use the process ids.
MARKER = "[TaskScope] UI Hierarchy:"
END = "</hierarchy>"
_DUMP_MARKER = MARKER.encode()
_DUMP_END = END.encode()


def snapshots_from_text(text: str) -> list[str]:
    """Return the hierarchies in the output of ``logcat -d -v tag``, oldest first."""
    snapshots: list[list[str]] = []
    inside = False
    for message in messages_of_tag_format(text):
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


def snapshots_from_entries(entries: Iterable[LogEntry]) -> list[str]:
    """Return the hierarchies in log entries, oldest first; other processes do no harm."""
    collector = _Collector()
    for entry in entries:
        source = f"{entry.pid} {entry.priority} {entry.tag}".encode("utf-8", "surrogatepass")
        message = entry.message.encode("utf-8", "surrogatepass")
        if not collector.go_on(source, message) and message.startswith(_DUMP_MARKER):
            collector.begin(source, message)
    return collector.texts("surrogatepass")


def snapshots_from_lines(lines: Iterable[bytes], *, pid: int) -> list[str]:
    """Return the hierarchies that one process logged, without parsing each of the raw lines.

    All lines of a hierarchy begin alike after the time: with process, thread, priority and tag.
    """
    return _collected(list(lines), pid=pid).texts("replace")


def dump_places(lines: Sequence[bytes]) -> list[list[int]]:
    """Return where the hierarchies of a log stand: the indexes of their lines, marker first.

    A hierarchy has lines of one process, thread and tag only, so no other process can smuggle
    lines into it.
    """
    return _collected(lines).places()


def _collected(lines: Sequence[bytes], *, pid: int | None = None) -> _Collector:
    """Return the hierarchies in raw lines, without parsing each: of all processes, or of one."""
    collector = _Collector()
    place = 0
    while place < len(lines):
        line = lines[place]
        for source in collector.sources:
            if line.startswith(source, TIME_LENGTH):
                collector.go_on(source, line[TIME_LENGTH + len(source) :], place)
                break
        else:
            if _DUMP_MARKER in line:
                place += _begin_at(lines, place, pid, collector)
        place += 1
    return collector


def _begin_at(lines: Sequence[bytes], place: int, pid: int | None, collector: _Collector) -> int:
    """Begin a hierarchy if its marker is at this place; return how many lines of it were read."""
    line = lines[place]
    entry = parse_log_line(line)
    if entry is None or pid not in (None, entry.pid) or not entry.message.startswith(MARKER):
        return 0
    at = line.index(_DUMP_MARKER)
    source = line[TIME_LENGTH:at]
    whole = _whole_dump(lines, place + 1, source) if line.endswith(_DUMP_MARKER) else []
    if whole:
        collector.add(whole, place)
    else:
        collector.begin(source, line[at:], place)
    return len(whole)


def _whole_dump(lines: Sequence[bytes], place: int, source: bytes) -> list[bytes]:
    """Return the messages of a hierarchy that was logged in one go, as nearly all are.

    Return an empty list if other lines are in between, if a message was cut, or if one may not
    belong to it: those are read line by line.
    """
    head = TIME_LENGTH + len(source)
    messages: list[bytes] = []
    for line in islice(lines, place, None):
        message = line[head:]
        if not line.startswith(source, TIME_LENGTH) or message.startswith(b"["):
            break
        messages.append(message)
        if len(message) >= PIECE_LENGTH:
            break
        if _DUMP_END in message:
            return messages if message == _DUMP_END else []
    return []


class _Collector:
    """Hierarchies while their lines come in; each source has one open at a time."""

    def __init__(self) -> None:
        self._dumps: list[_Dump] = []
        self._open: dict[bytes, _Dump] = {}
        self.sources: tuple[bytes, ...] = ()

    def add(self, lines: list[bytes], place: int) -> None:
        """Add a whole hierarchy, whose marker stands at this place."""
        self._dumps.append(_Dump(lines, places=[*range(place, place + 1 + len(lines))]))

    def begin(self, source: bytes, message: bytes, place: int = 0) -> None:
        """Open a hierarchy at its marker."""
        dump = self._open_dump(source)
        dump.places.append(place)
        if first := message[len(_DUMP_MARKER) :].strip():
            dump.add(first)

    def go_on(self, source: bytes, message: bytes, place: int = 0) -> bool:
        """Add a message to the source's open hierarchy; return False if it has none."""
        dump = self._open.get(source)
        if dump is None:
            return False
        if dump.is_succeeded_by(message):
            marker = dump.drop_last()
            dump = self._open_dump(source)
            dump.places.append(marker)
        if dump.takes(message):
            dump.places.append(place)
            if dump.add(message):
                self._close(source)
            return True
        self._close(source)
        if message.startswith(_DUMP_MARKER):
            self.begin(source, message, place)
        return True

    def places(self) -> list[list[int]]:
        """Return where the lines of each hierarchy stand, its marker's first."""
        return [dump.places for dump in self._dumps]

    def texts(self, errors: str) -> list[str]:
        """Return the hierarchies, oldest first."""
        return [text for dump in self._dumps if (text := dump.text(errors))]

    def _open_dump(self, source: bytes) -> _Dump:
        dump = self._open[source] = _Dump()
        self.sources = tuple(self._open)
        self._dumps.append(dump)
        return dump

    def _close(self, source: bytes) -> None:
        del self._open[source]
        self.sources = tuple(self._open)


@dataclass
class _Dump:
    """A hierarchy while its lines come in.

    The writer escapes ``"`` and ``<`` inside attribute values, so counting quotes shows
    whether a line begins inside one, where it may look like anything: a log line, a marker.
    """

    lines: list[bytes] = field(default_factory=list)
    in_value: bool = False
    was_cut: bool = False
    places: list[int] = field(default_factory=list)

    def takes(self, message: bytes) -> bool:
        """Whether the message belongs to this hierarchy."""
        return self.in_value or self.was_cut or not message.startswith(b"[")

    def is_succeeded_by(self, message: bytes) -> bool:
        """Whether the last line, taken for part of a value, was a marker after all.

        A raw ``<`` cannot stand in a value: the log lost the value's end, and the next
        hierarchy began.
        """
        return (
            self.in_value and self.lines[-1].startswith(_DUMP_MARKER) and message.startswith(b"<")
        )

    def drop_last(self) -> int:
        """Remove the last line, and return where it stood."""
        self.lines.pop()
        return self.places.pop()

    def add(self, message: bytes) -> bool:
        """Append a line, or a piece of one; True when the hierarchy is complete."""
        if self.was_cut:
            self.lines[-1] += message
        else:
            self.lines.append(message)
        if self.in_value and message.lstrip().startswith(b"<"):
            self.in_value = False  # the log cut the line before
        if message.count(b'"') % 2:
            self.in_value = not self.in_value
        self.was_cut = len(message) >= PIECE_LENGTH and _units(message) == PIECE_LENGTH
        return message.strip() == _DUMP_END

    def text(self, errors: str) -> str:
        """Return the hierarchy so far."""
        return trim(b"\n".join(self.lines).decode("utf-8", errors))


def _units(message: bytes) -> int:
    try:
        return utf16_length(message.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return utf16_length(message.decode("utf-8", "replace"))
