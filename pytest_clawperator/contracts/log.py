"""The device's log: the format that logcat is asked for, and how its lines are read.

Everything that depends on the format is in this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
