"""Reads what became of the tests of a run, also of one that was killed; nothing is trusted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_clawperator.report.index.record import (
    DeviceSeen,
    ErrorSummary,
    RunBegan,
    TestEnded,
    test_of,
)
from pytest_clawperator.report.index.writing import RUN_FILE
from pytest_clawperator.report.trace.glancing import Glance, traces_in
from pytest_clawperator.report.trace.reading import event_of

#: The page of a trace, beside the trace or, of a test that was broken off, in it.
PAGE_FILE = "trace.html"
_OF_TRACE = ("passed", "failed", "error", "skipped")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run: its tests in the order in which they ended, and its devices."""

    folder: Path
    name: str
    start: float
    environment: dict[str, str] = field(default_factory=dict)
    devices: dict[str, dict[str, str]] = field(default_factory=dict)
    tests: Sequence[TestEnded] = ()


def read_run(folder: Path) -> Run:
    """Read a run: its file, and the traces that are in its folder.

    A trace that no line tells of is that of a test that was broken off, or of a run whose file
    is lost.
    """
    lines = _lines(folder / RUN_FILE)
    tests = [test for line in lines if line["kind"] == TestEnded.kind and (test := test_of(line))]
    traces = list(traces_in(folder))
    head = next((line for line in lines if line["kind"] == RunBegan.kind), {})
    starts = [*(test.start for test in tests), *(trace.start for trace in traces)]
    if "at" in head:
        starts.append(head["at"])
    devices = {serial: about for trace in traces for serial, about in trace.devices.items()}
    return Run(
        folder=folder,
        name=str(head.get("run") or folder.resolve().name),
        start=min(starts, default=0.0),
        environment=_words(head.get("environment")),
        devices={**devices, **_devices(lines)},
        tests=joined(tests, traces, folder),
    )


def joined(
    tests: Sequence[TestEnded], traces: Iterable[Glance], folder: Path
) -> tuple[TestEnded, ...]:
    """Return the tests of a run with the pages of their traces, and those of lost tests."""
    found = list(tests)
    lost: list[TestEnded] = []
    for trace in traces:
        page = _page_of(trace)
        href = "" if page is None else _relative(page, folder)
        place = _place_of(trace, found)
        if place is None:
            lost.append(_test_of_trace(trace, href, folder))
        elif href:
            found[place] = replace(found[place], page=href)
    return (*found, *lost)


def _place_of(trace: Glance, tests: Sequence[TestEnded]) -> int | None:
    """Return which attempt a trace is of: that which began at about the same time."""
    same = [
        (abs(test.start - trace.start), place)
        for place, test in enumerate(tests)
        if (test.nodeid, test.worker) == (trace.nodeid, trace.worker)
        and test.start - 1 <= trace.start <= test.stop + 1
    ]
    return min(same)[1] if same else None


def _test_of_trace(trace: Glance, page: str, folder: Path) -> TestEnded:
    outcome = trace.outcome if trace.outcome in _OF_TRACE else "broken off"
    reason = trace.reason if trace.outcome else "the test was broken off"
    is_bad = outcome not in ("passed", "skipped")
    return TestEnded(
        at=trace.stop,
        nodeid=trace.nodeid,
        outcome=outcome,  # type: ignore[arg-type]  # one of them, as was asked
        attempt=trace.attempt,
        worker=trace.worker,
        devices=tuple(trace.devices),
        start=trace.start,
        stop=trace.stop,
        error=ErrorSummary(message=reason) if is_bad else None,
        is_infrastructure=trace.is_infrastructure,
        folder=_relative(trace.folder, folder),
        page=page,
    )


def _page_of(trace: Glance) -> Path | None:
    places = (trace.folder.parent / PAGE_FILE, trace.folder / PAGE_FILE)
    return next((place for place in places if place.is_file()), None)


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        content = path.read_bytes()
    except OSError:
        return []
    found = map(event_of, content.split(b"\n")[:-1])
    return [event for event in found if event is not None]


def _devices(lines: Iterable[dict[str, Any]]) -> dict[str, dict[str, str]]:
    seen = [line for line in lines if line["kind"] == DeviceSeen.kind]
    return {str(line.get("serial", "")): _words(line.get("about")) for line in seen}


def _words(data: object) -> dict[str, str]:
    return {str(name): str(one) for name, one in data.items()} if isinstance(data, dict) else {}
