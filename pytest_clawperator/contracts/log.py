"""One line of the device's log, as every log format but the barest tells it."""

from __future__ import annotations

import re
from typing import NamedTuple


class LogEntry(NamedTuple):
    """A printed log line. A message of several lines is several entries with one prefix."""

    pid: int
    tid: int
    priority: str
    tag: str
    message: str


# month-day, time, pid, tid, priority, then the tag, padded to eight, and a colon.
_THREADTIME = re.compile(
    rb"\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +(\d+) +(\d+) ([A-Z]) (.*?) *:(?: (.*))?", re.DOTALL
)


def parse_log_line(line: bytes) -> LogEntry | None:
    """Read a line of ``logcat -v threadtime``; None for a divider or anything else."""
    found = _THREADTIME.fullmatch(line)
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
