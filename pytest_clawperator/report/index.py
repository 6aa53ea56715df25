"""The index of a run: which tests ran, where, how long they took, and how they ended.

The file of a run is written line by line while the tests run and read back with the traces in its
folder; the page shows one run or several. ``docs/reports.md`` describes the format.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pytest_clawperator.redaction import SECRETS, hide_in
from pytest_clawperator.report.contents import link_to
from pytest_clawperator.report.page import escaped, page_of, write_file
from pytest_clawperator.report.trace import (
    Glance,
    TraceEvent,
    devices_of,
    events_of,
    hide_in_lines,
    number_of,
    to_line,
    traces_in,
    words_of,
    write_all,
)

#: Counted up whenever a reader of the former one would misunderstand a file.
VERSION = 1


TestOutcome = Literal[
    "passed", "failed", "error", "skipped", "xfailed", "xpassed", "rerun", "broken off"
]

OUTCOMES: tuple[TestOutcome, ...] = (
    "failed",
    "error",
    "broken off",
    "rerun",
    "xpassed",
    "xfailed",
    "skipped",
    "passed",
)


@dataclass(frozen=True, kw_only=True)
class RunBegan(TraceEvent):
    """The first line: which run it is, and what made it."""

    kind: ClassVar[str] = "run"
    version: int = VERSION
    run: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ErrorSummary:
    """Why a test failed, in one line, and in which phase."""

    message: str
    code: str | None = None
    phase: str = ""


@dataclass(frozen=True, kw_only=True)
class TestEnded(TraceEvent):
    """An attempt at a test ended.

    ``seconds`` has the duration of each phase. ``folder`` has its evidence, ``page`` shows its
    trace; both are relative to the folder of the run.
    """

    __test__: ClassVar[bool] = False  # pytest must not collect it

    kind: ClassVar[str] = "test"
    nodeid: str
    outcome: TestOutcome
    attempt: int = 1
    worker: str = ""
    devices: Sequence[str] = ()
    start: float
    stop: float
    seconds: Mapping[str, float] = field(default_factory=dict)
    error: ErrorSummary | None = None
    is_infrastructure: bool = False
    folder: str = ""
    page: str = ""
    markers: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class TestMoved(TraceEvent):
    """A test went to another device before it began, so it was not run here."""

    __test__: ClassVar[bool] = False

    kind: ClassVar[str] = "moved"
    nodeid: str
    worker: str = ""
    start: float
    stop: float


@dataclass(frozen=True, kw_only=True)
class RunEnded(TraceEvent):
    """The last line; a run that was killed has none."""

    kind: ClassVar[str] = "end"
    exit: int


def test_of(data: Mapping[str, Any]) -> TestEnded | None:
    """Return a line as a test; None if it is not one."""
    nodeid, outcome = data.get("nodeid"), data.get("outcome")
    start, stop = number_of(data.get("start")), number_of(data.get("stop"))
    if not isinstance(nodeid, str) or outcome not in OUTCOMES or start is None or stop is None:
        return None
    return TestEnded(
        at=number_of(data.get("at")) or stop,
        nodeid=nodeid,
        outcome=outcome,
        attempt=attempt if isinstance(attempt := data.get("attempt"), int) else 1,
        worker=_text(data.get("worker")),
        devices=_texts(data.get("devices")),
        start=start,
        stop=max(start, stop),
        seconds=_seconds(data.get("seconds")),
        error=_error(data.get("error")),
        is_infrastructure=data.get("is_infrastructure") is True,
        folder=_text(data.get("folder")),
        page=_text(data.get("page")),
        markers=_texts(data.get("markers")),
    )


def _moved_of(data: Mapping[str, Any]) -> TestMoved | None:
    nodeid, worker = data.get("nodeid"), _text(data.get("worker"))
    start, stop = number_of(data.get("start")), number_of(data.get("stop"))
    if not isinstance(nodeid, str) or start is None or stop is None:
        return None
    return TestMoved(at=stop, nodeid=nodeid, worker=worker, start=start, stop=stop)


def _error(data: object) -> ErrorSummary | None:
    if not isinstance(data, dict):
        return None
    code = data.get("code")
    return ErrorSummary(
        message=_text(data.get("message")),
        code=code if isinstance(code, str) else None,
        phase=_text(data.get("phase")),
    )


def _seconds(data: object) -> dict[str, float]:
    pairs = data.items() if isinstance(data, dict) else ()
    return {str(name): found for name, one in pairs if (found := number_of(one)) is not None}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, value)) if isinstance(value, list) else ()


RUN_FILE = "run.jsonl"


class RunLog:
    """Append lines to the file of a run; each is written before the next test is reported.

    Lines that are added before :meth:`open` are written when it is called.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / RUN_FILE
        self._waiting: list[TraceEvent] = []
        self._file: int | None = None
        self._secrets = SECRETS.secrets

    @property
    def is_open(self) -> bool:
        """Whether the file is open."""
        return self._file is not None

    def open(self) -> None:
        """Open the file, and write the lines that were added before."""
        if self._file is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self.add(event)

    def add(self, event: TraceEvent) -> None:
        """Append a line, without secrets."""
        if self._file is None:
            self._waiting.append(event)
            return
        write_all(self._file, to_line(hide_in(event.to_json())))

    def close(self) -> None:
        """Close the file; secrets that became known since are hidden in it."""
        if self._file is None:
            return
        os.close(self._file)
        self._file = None
        if SECRETS.secrets != self._secrets:
            hide_in_lines(self._path)


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
    """Read a run: its file, and the traces in its folder.

    A trace without a line belongs to a test that was broken off, or to a run whose file is lost.
    A later line about the same attempt replaces the one before.
    """
    lines = _lines(folder / RUN_FILE)
    tests = _latest(test_of(line) for line in lines if line["kind"] == TestEnded.kind)
    moved = [one for line in lines if line["kind"] == TestMoved.kind and (one := _moved_of(line))]
    traces = [one for one in traces_in(folder) if _place_of(one, moved) is None]
    head = next((line for line in lines if line["kind"] == RunBegan.kind), {})
    starts = [*(test.start for test in tests), *(trace.start for trace in traces)]
    if "at" in head:
        starts.append(head["at"])
    devices = {serial: about for trace in traces for serial, about in trace.devices.items()}
    return Run(
        folder=folder,
        name=str(head.get("run") or folder.resolve().name),
        start=min(starts, default=0.0),
        environment=words_of(head.get("environment")),
        devices={**devices, **devices_of(lines)},
        tests=joined(tests, traces, folder),
    )


def _latest(tests: Iterable[TestEnded | None]) -> list[TestEnded]:
    """Return the tests; a later line about the same attempt replaces the one before."""
    read = (one for one in tests if one is not None)
    return list({(one.nodeid, one.worker, one.attempt, one.start): one for one in read}.values())


def joined(
    tests: Sequence[TestEnded], traces: Iterable[Glance], folder: Path
) -> tuple[TestEnded, ...]:
    """Return the tests of a run with the pages of their traces, and tests known only by a trace."""
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


def _place_of(trace: Glance, tests: Sequence[TestEnded | TestMoved]) -> int | None:
    """Return the index of the attempt that a trace belongs to: it began at about the same time."""
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
        return list(events_of(path.read_bytes()))
    except OSError:
        return []


_LONGEST = 300

# What varies between failures with the same reason, replaced in this order.
_VARYING = (
    (re.compile(r"\[[^\]\s]{3,}\] (?=[A-Z][A-Z_]+:)"), ""),  # a serial at the beginning
    (re.compile(r"(['\"`])(?:\\.|(?!\1).){0,2000}?\1"), "'…'"),
    (re.compile(r"[“‘][^”’]{0,2000}[”’]"), "'…'"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), "…"),
    (re.compile(r"\b(?=[a-z]*\d)[0-9a-f]{6,}\b", re.IGNORECASE), "…"),
    (re.compile(r"\bemulator-\d+\b"), "…"),
    (re.compile(r"-?\d+(?:[.,:]\d+)*"), "…"),
    (re.compile(r"\s+"), " "),
)


def similarity_key(error: ErrorSummary) -> str:
    """Return a text that similar errors share: without numbers, ids and quoted texts."""
    text = error.message[:_LONGEST]
    for pattern, mark in _VARYING:
        text = pattern.sub(mark, text)
    return f"{error.code or ''}: {text.strip()}"


def groups_of(tests: Iterable[TestEnded]) -> list[list[int]]:
    """Group similar failures; return the indexes of the tests, the largest group first."""
    groups: dict[str, list[int]] = {}
    for place, test in enumerate(tests):
        if test.error is not None:
            groups.setdefault(similarity_key(test.error), []).append(place)
    return sorted(groups.values(), key=len, reverse=True)


INDEX_FILE = "index.html"

_MOST_MESSAGE = 1_000

_MOST_NAMED = 200


def write_index(runs: Sequence[Run], path: Path) -> None:
    """Write the page that shows these runs; its links are relative to its folder."""
    write_file(path, index_text(runs, folder=path.parent))


def index_text(runs: Sequence[Run], *, folder: Path) -> str:
    """Return the page that shows these runs, with links relative to ``folder``."""
    tests = [test for run in runs for test in run.tests]
    title = f"{count_outcomes(tests)}: {_name(runs)}"
    data = {
        "name": _name(runs),
        "runs": [
            {"name": run.name, "start": run.start, "environment": run.environment} for run in runs
        ],
        "devices": {serial: about for run in runs for serial, about in run.devices.items()},
        "tests": [
            _shown(test, run, place, folder) for place, run in enumerate(runs) for test in run.tests
        ],
        "groups": groups_of(tests),
    }
    return page_of(
        "index/index.html",
        entry="index/main.js",
        styles=("base/base.css", "index/index.css"),
        title=title,
        data=hide_in(data),
        summary=_summary(title, tests),
    )


def count_outcomes(tests: Sequence[TestEnded]) -> str:
    """Return the number of tests per outcome as text, the bad ones first."""
    counts = Counter(test.outcome for test in tests)
    parts = [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]]
    return ", ".join(parts) or "no tests"


def _name(runs: Sequence[Run]) -> str:
    return runs[0].name if len(runs) == 1 else f"{len(runs)} runs"


def _shown(test: TestEnded, run: Run, place: int, folder: Path) -> dict[str, Any]:
    """Return the data of a test for the page; unknown values are left out."""
    shown = {
        "nodeid": test.nodeid,
        "outcome": test.outcome,
        "attempt": test.attempt,
        "run": place,
        "worker": test.worker,
        "devices": list(test.devices),
        # Relative to its run: runs on other computers begin at other times.
        "start": round(test.start - run.start, 3),
        "seconds": round(test.stop - test.start, 3),
        "phases": {name: round(one, 3) for name, one in test.seconds.items()},
        "is_infrastructure": test.is_infrastructure,
        "markers": list(test.markers),
        "page": link_to(test.page, run.folder, folder),
        "folder": link_to(test.folder, run.folder, folder),
    }
    if test.error is not None:
        shown |= {
            "message": test.error.message[:_MOST_MESSAGE],
            "code": test.error.code,
            "phase": test.error.phase,
        }
    return {name: value for name, value in shown.items() if value or type(value) in (int, float)}


def _summary(title: str, tests: Sequence[TestEnded]) -> str:
    """Return the failures in a few lines of HTML, for browsers that do not run scripts."""
    bad = [test for test in tests if test.error is not None and test.outcome != "rerun"]
    lines = [f"<li>{escaped(f'{test.outcome}: {test.nodeid}')}</li>" for test in bad[:_MOST_NAMED]]
    return f"<h1>{escaped(title)}</h1>\n<ul>{''.join(lines)}</ul>"
