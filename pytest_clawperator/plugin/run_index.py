"""The index of the run: a line for each attempt at a test as it ends, and a page at the end."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.clients import clients_of
from pytest_clawperator.plugin.failures import (
    DEVICE_FACTS,
    ERROR,
    EVIDENCE_FOLDER,
    INFRASTRUCTURE,
    MARKERS,
    TRACE_PROPERTY,
    USED_DEVICES,
)
from pytest_clawperator.plugin.run import events_of, run_folder, run_id, write_line
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import REPORTED_DEVICES
from pytest_clawperator.plugin.tracing import UNFINISHED
from pytest_clawperator.report.index import (
    INDEX_FILE,
    PAGE_FILE,
    DeviceSeen,
    ErrorSummary,
    RunBegan,
    RunEnded,
    RunLog,
    TestEnded,
    TestOutcome,
    read_run,
    write_index,
)
from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import now, read_trace, traces_in
from pytest_clawperator.text import shown_path

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
        """Note when a test began."""
        self._began[nodeid] = at

    def add(self, report: pytest.TestReport) -> Iterator[TestEnded]:
        """Add a report; yield the attempts that ended with it."""
        node = getattr(report, "node", None)
        worker = "" if node is None else str(node.gateway.id)
        key = worker, report.nodeid
        if report.when == "setup" and key in self._open:  # a rerun without a teardown
            yield from self._end(key)
        attempt = self._open.get(key)
        if attempt is None:
            began = report.start or self._began.get(report.nodeid, now())
            attempt = self._open[key] = _Attempt(report.nodeid, worker, began)
        self._note(attempt, report)
        if report.when not in ("setup", "call"):  # xdist reports a worker that died at once
            yield from self._end(key)

    def rest(self) -> Iterator[TestEnded]:
        """Yield the attempts whose end was not reported: the run ended before they did."""
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
    given = getattr(report, ERROR, None)
    phase = report.when if report.when in _PHASES else ""
    if isinstance(given, dict):
        code = given.get("code")
        return ErrorSummary(message=str(given.get("message", "")), code=code, phase=phase or "")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr or "") if crash is None else crash.message
    first = text.strip().partition("\n")[0]
    return ErrorSummary(message=first, phase=phase or "") if first else None


# Markers that say how a test is run, and not what it is.
_TECHNICAL = ("parametrize", "usefixtures", "filterwarnings")
_LONGEST_MESSAGE = 500


def add_facts(item: pytest.Item, report: pytest.TestReport, error: BaseException | None) -> None:
    """Add to a report what only the process of the test knows, for the index of the run."""
    if error is not None:
        setattr(report, ERROR, _summary(error))
    if report.when == "setup":
        markers = dict.fromkeys(marker.name for marker in item.iter_markers())
        setattr(report, MARKERS, [name for name in markers if name not in _TECHNICAL])
    if facts := _new_facts(item):
        setattr(report, DEVICE_FACTS, facts)


def _summary(error: BaseException) -> dict[str, str]:
    code = getattr(error, "code", None)
    message = getattr(error, "message", None)
    text = message if isinstance(message, str) else str(error)
    first = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    summary = {"message": first[:_LONGEST_MESSAGE]}
    return summary if code is None else {**summary, "code": str(getattr(code, "value", code))}


def _new_facts(item: pytest.Item) -> dict[str, dict[str, str]]:
    """Return the properties of a test's devices that this process did not report yet."""
    known = item.config.stash.setdefault(REPORTED_DEVICES, set())
    new = {}
    for activity in clients_of(item):
        info = activity.client.device.info
        if info.serial not in known:
            known.add(info.serial)
            about = {"model": info.model, "Android": info.release, "API level": info.api_level}
            new[info.serial] = {name: str(one) for name, one in about.items() if one is not None}
    return new


class RunIndex:
    """Writes the index of a run, if a test of it uses a device."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folder = run_folder(config)
        self._log = RunLog(self._folder)
        self._attempts = AttemptReports(self._relative)
        self._page: Path | None = None
        self._is_kept = settings_of(config).trace != "off"
        environment = {"Python": platform.python_version(), "pytest": pytest.__version__}
        self._log.add(RunBegan(at=now(), run=run_id(config), environment=environment))

    def begin_test(self, nodeid: str) -> None:
        """Note when a test began: its process may not live to report it."""
        self._attempts.began(nodeid, now())

    def add(self, report: pytest.TestReport) -> None:
        """Write a line when an attempt is over."""
        if not self._is_kept:
            return
        try:
            if getattr(report, USED_DEVICES, None):
                self._log.open()
            for serial, about in getattr(report, DEVICE_FACTS, {}).items():
                self._log.add(DeviceSeen(at=now(), serial=serial, about=about))
            for ended in self._attempts.add(report):
                self._log.add(ended)
        except OSError as exc:
            self._give_up(exc)

    def end(self, exitstatus: int) -> None:
        """Write the page, and those of tests that were interrupted."""
        if not self._is_kept:
            return
        try:
            for ended in self._attempts.rest():
                self._log.add(ended)
            if not self._log.is_open:
                return
            self._log.add(RunEnded(at=now(), exit=int(exitstatus)))
            self._log.close()
            self._write_unfinished()
            write_index([read_run(self._folder)], self._folder / INDEX_FILE)
            self._page = self._folder / INDEX_FILE
        except OSError as exc:
            self._give_up(exc)

    def write(self, reporter: pytest.TerminalReporter) -> None:
        """Write where the page is."""
        if self._page is not None and self._config.get_verbosity() >= 0:
            reporter.section("report")
            write_line(reporter, shown_path(self._page, self._config.invocation_params.dir))

    def _write_unfinished(self) -> None:
        """Write pages of traces whose processes were killed."""
        for trace in traces_in(self._folder / UNFINISHED):
            try:
                write_page(read_trace(trace.folder), trace.folder / PAGE_FILE)
            except ClawperatorError as exc:
                events_of(self._config).notice("", f"no page of {trace.nodeid}: {exc.message}")

    def _relative(self, folder: str) -> str:
        """Return a folder that a report names as seen from the folder of the run."""
        path = self._config.invocation_params.dir / folder
        return Path(os.path.relpath(path, self._folder)).as_posix()

    def _give_up(self, error: OSError) -> None:
        """Report that there is no index; no test fails for that."""
        events_of(self._config).notice("", f"no index of the run: {error}")
        self._is_kept = False
