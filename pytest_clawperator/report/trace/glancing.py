"""A glance at a trace: whose it is and how it ended, without reading it all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clawperator.report.trace.events import VERSION, DeviceUsed, TraceBegan, TraceEnded
from pytest_clawperator.report.trace.reading import Trace, event_of, read_trace
from pytest_clawperator.report.trace.writing import BLOBS_FOLDER, EVENTS_FILE

# The devices of a test stand among its first lines, its end in the last one.
_BEGIN, _END = 65_536, 65_536
# In how many earlier runs a test is looked for.
_RUNS = 50


@dataclass(frozen=True, kw_only=True)
class Glance:
    """A trace, as its first and last lines tell of it; ``outcome`` is None if it has no end."""

    folder: Path
    nodeid: str
    attempt: int
    worker: str
    start: float
    stop: float
    devices: dict[str, dict[str, str]] = field(default_factory=dict)
    outcome: str | None = None
    reason: str = ""
    is_infrastructure: bool = False


def traces_in(folder: Path) -> Iterator[Glance]:
    """Yield a glance at each trace below a folder; what is no trace is left out."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != BLOBS_FOLDER)
        if EVENTS_FILE in files and (found := glance(Path(place))) is not None:
            yield found


def glance(folder: Path) -> Glance | None:
    """Look at the trace in a folder; None if it cannot be read."""
    try:
        with (folder / EVENTS_FILE).open("rb") as file:
            first = _events(file.read(_BEGIN).split(b"\n")[:-1])
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
            last = _events(file.read().split(b"\n")[:-1])
    except OSError:
        return None
    head = first[0] if first else {}
    is_ours = head.get("kind") == TraceBegan.kind and head.get("version") == VERSION
    if not is_ours or not isinstance(head.get("nodeid"), str):
        return None
    end = last[-1] if last and last[-1]["kind"] == TraceEnded.kind else {}
    return Glance(
        folder=folder,
        nodeid=head["nodeid"],
        attempt=attempt if isinstance(attempt := head.get("attempt"), int) else 1,
        worker=str(head.get("worker", "")),
        start=head["at"],
        stop=max(head["at"], (last or first)[-1]["at"]),
        devices={one["serial"]: _about(one) for one in first if _is_device(one)},
        outcome=str(end["outcome"]) if "outcome" in end else None,
        reason=str(end.get("reason", "")),
        is_infrastructure=end.get("is_infrastructure") is True,
    )


def last_passed(trace: Trace, *, run: str) -> Trace | None:
    """Return the trace of the last run in which a test passed, to compare one that did not.

    It is looked for where ``trace``, which is of this run, would be in the folders of others.
    """
    here = next((one for one in trace.folder.parents if one.name == run), None)
    if here is None or (trace.end or {}).get("outcome") == "passed":
        return None
    test = trace.folder.relative_to(here).parts[0]
    for other in sorted(here.parent.iterdir(), reverse=True)[:_RUNS]:
        if other == here or not (other / test).is_dir():
            continue
        for found in traces_in(other / test):
            if (found.nodeid, found.outcome) == (trace.head["nodeid"], "passed"):
                return read_trace(found.folder)
    return None


def _events(lines: list[bytes]) -> list[dict[str, Any]]:
    return [event for event in map(event_of, lines) if event is not None]


def _is_device(event: dict[str, Any]) -> bool:
    return event["kind"] == DeviceUsed.kind and isinstance(event.get("serial"), str)


def _about(event: dict[str, Any]) -> dict[str, str]:
    about = event.get("about")
    return {str(name): str(one) for name, one in about.items()} if isinstance(about, dict) else {}
