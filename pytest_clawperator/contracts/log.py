"""One line of the device's log, as every log format but the barest tells it."""

from __future__ import annotations

from typing import NamedTuple


class LogEntry(NamedTuple):
    """A printed log line. A message of several lines is several entries with one prefix."""

    pid: int
    tid: int
    priority: str
    tag: str
    message: str
