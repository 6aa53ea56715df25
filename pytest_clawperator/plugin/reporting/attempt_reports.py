"""Puts together what pytest reports of an attempt at a test, phase by phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from pytest_clawperator.plugin.session.report_fields import (
    ERROR,
    EVIDENCE_FOLDER,
    INFRASTRUCTURE,
    MARKERS,
    TRACE_PROPERTY,
    USED_DEVICES,
)
from pytest_clawperator.report.index import ErrorSummary, TestEnded, TestOutcome
from pytest_clawperator.report.trace import now

_PHASES = ("setup", "call", "teardown")
_RERUN = "rerun"
_BY_WEIGHT: tuple[TestOutcome, ...] = (
    "rerun",
    "failed",
    "error",
    "broken off",
    "xpassed",
    "xfailed",
    "skipped",
)


@dataclass
class _Attempt:
    nodeid: str
    worker: str
    start: float
    stop: float = 0.0
    outcomes: list[TestOutcome] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    devices: dict[str, None] = field(default_factory=dict)
    error: ErrorSummary | None = None
    is_infrastructure: bool = False
    folder: str = ""
    page: str = ""
    markers: list[str] = field(default_factory=list)


class AttemptReports:
    """Turns reports into one record for each attempt, also where several workers report.

    ``relative`` returns a folder that a report names as the record shall name it.
    """

    def __init__(self, relative: Callable[[str], str]) -> None:
        self._relative = relative
        self._open: dict[tuple[str, str], _Attempt] = {}
        self._began: dict[str, float] = {}
        self._counts: Counter[str] = Counter()

    def began(self, nodeid: str, at: float) -> None:
        """Take note of when a test began."""
        self._began[nodeid] = at

    def add(self, report: pytest.TestReport) -> Iterator[TestEnded]:
        """Add a report; yield the attempts that ended with it."""
        node = getattr(report, "node", None)
        worker = "" if node is None else str(node.gateway.id)
        key = worker, report.nodeid
        if report.when == "setup" and key in self._open:  # not all who rerun tests tell the end
            yield from self._end(key)
        attempt = self._open.get(key)
        if attempt is None:
            began = report.start or self._began.get(report.nodeid, now())
            attempt = self._open[key] = _Attempt(report.nodeid, worker, began)
        self._note(attempt, report)
        if report.when not in ("setup", "call"):  # xdist reports a worker that died at once
            yield from self._end(key)

    def rest(self) -> Iterator[TestEnded]:
        """Yield the attempts whose end nobody reported: the run ended before they did."""
        for key, attempt in list(self._open.items()):
            if _worst(attempt.outcomes) == "passed":
                attempt.outcomes.append("broken off")
                attempt.error = ErrorSummary(message="the run ended before the test did")
            yield from self._end(key)

    def _note(self, attempt: _Attempt, report: pytest.TestReport) -> None:
        attempt.stop = max(attempt.stop, report.stop or now())
        if report.when in _PHASES and not hasattr(report, "context"):  # that of a subtest
            attempt.seconds[report.when] = round(report.duration, 6)
        attempt.outcomes.append(_outcome(report))
        attempt.devices.update(dict.fromkeys(getattr(report, USED_DEVICES, ())))
        attempt.markers = getattr(report, MARKERS, attempt.markers)
        if folder := getattr(report, EVIDENCE_FOLDER, None):
            attempt.folder = self._relative(folder)
        if page := dict(report.user_properties).get(TRACE_PROPERTY):
            attempt.page = self._relative(str(page))
        if report.outcome in ("failed", _RERUN):
            attempt.is_infrastructure |= bool(getattr(report, INFRASTRUCTURE, False))
        if attempt.error is None and not report.passed:
            attempt.error = _error(report)

    def _end(self, key: tuple[str, str]) -> Iterator[TestEnded]:
        attempt = self._open.pop(key)
        # A test that went to another device before it began was not run.
        if attempt.outcomes == ["passed"] * len(attempt.outcomes) and "call" not in attempt.seconds:
            return
        self._counts[attempt.nodeid] += 1
        outcome = _worst(attempt.outcomes)
        is_bad = outcome not in ("passed", "skipped", "xfailed")
        yield TestEnded(
            at=now(),
            nodeid=attempt.nodeid,
            outcome=outcome,
            attempt=self._counts[attempt.nodeid],
            worker=attempt.worker,
            devices=tuple(attempt.devices),
            start=attempt.start,
            stop=max(attempt.start, attempt.stop),
            seconds=attempt.seconds,
            error=attempt.error if is_bad else None,
            is_infrastructure=attempt.is_infrastructure,
            folder=attempt.folder,
            page=attempt.page,
            markers=attempt.markers,
        )


def _outcome(report: pytest.TestReport) -> TestOutcome:
    if report.outcome == _RERUN:  # as some plugins have it
        return "rerun"
    if report.failed:
        is_own = report.when not in ("setup", "teardown")
        return "failed" if is_own and not getattr(report, INFRASTRUCTURE, False) else "error"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return "skipped" if report.skipped else "passed"


def _worst(outcomes: list[TestOutcome]) -> TestOutcome:
    return next((one for one in _BY_WEIGHT if one in outcomes), "passed")


def _error(report: pytest.TestReport) -> ErrorSummary | None:
    told = getattr(report, ERROR, None)
    phase = report.when if report.when in _PHASES else ""
    if isinstance(told, dict):
        code = told.get("code")
        return ErrorSummary(message=str(told.get("message", "")), code=code, phase=phase or "")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr or "") if crash is None else crash.message
    first = text.strip().partition("\n")[0]
    return ErrorSummary(message=first, phase=phase or "") if first else None
