"""Reading a trace, a whole one or one whose test was killed; nothing in it is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.report.trace.events import VERSION, TraceBegan, TraceEnded
from pytest_clawperator.report.trace.writing import BLOBS_FOLDER, EVENTS_FILE

_BLOB = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{1,8}")


@dataclass(frozen=True)
class Trace:
    """A trace that was read: its lines as data, and the folder of its blobs.

    ``skipped`` is how many lines could not be read.
    """

    folder: Path
    events: tuple[dict[str, Any], ...]
    skipped: int = 0

    @property
    def head(self) -> dict[str, Any]:
        """The first line: whose trace it is."""
        return self.events[0]

    @property
    def end(self) -> dict[str, Any] | None:
        """The last line; None for a test that was broken off."""
        last = self.events[-1]
        return last if last["kind"] == TraceEnded.kind else None

    def of_kind(self, kind: str) -> Iterator[dict[str, Any]]:
        """Yield the events of one kind."""
        return (event for event in self.events if event["kind"] == kind)

    def blob(self, name: object) -> bytes | None:
        """Return a blob; None if it is not there, or if that is not the name of one."""
        if not isinstance(name, str) or not _BLOB.fullmatch(name):
            return None
        try:
            return (self.folder / BLOBS_FOLDER / name).read_bytes()
        except OSError:
            return None


def read_trace(folder: Path) -> Trace:
    """Read the trace in a folder; raise ``ConfigurationError`` if there is none to read.

    A last line that was cut off, and lines that are no events, are left out.
    """
    path = folder / EVENTS_FILE
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise ConfigurationError(
            f"{path} cannot be read: {exc.strerror or exc}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint=f"Name a folder that has a {EVENTS_FILE}, as the folder of a test that failed has "
            "in its folder `trace`.",
        ) from exc
    lines = content.split(b"\n")[:-1]
    events = tuple(event for event in map(event_of, lines) if event is not None)
    _check_head(path, events)
    return Trace(folder, events, skipped=len(lines) - len(events))


def event_of(line: bytes) -> dict[str, Any] | None:
    """Return a line as an event; None if it is none."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_event = isinstance(data, dict) and isinstance(data.get("kind"), str)
    return data if is_event and _is_time(data.get("at")) else None


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_head(path: Path, events: tuple[dict[str, Any], ...]) -> None:
    head = events[0] if events else {}
    if head.get("kind") != TraceBegan.kind or not isinstance(head.get("nodeid"), str):
        raise ConfigurationError(
            f"{path} is no trace: it does not begin with the line of a test",
            hint="The test may have been killed before it began; run it again.",
        )
    version = head.get("version")
    if version != VERSION:
        raise ConfigurationError(
            f"{path} has version {version!r} of the format, and this package reads {VERSION}",
            hint="Read it with the version of pytest-clawperator that wrote it.",
        )
