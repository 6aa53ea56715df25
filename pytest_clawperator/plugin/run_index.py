"""The index of the run: a line for each attempt at a test as it ends, and a page at the end."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin import failures
from pytest_clawperator.plugin.clients import clients_of
from pytest_clawperator.plugin.report_sinks import VERSIONS
from pytest_clawperator.plugin.run import events_of, run_folder, run_id, write_line
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import REPORTED_DEVICES
from pytest_clawperator.plugin.tracing import UNFINISHED
from pytest_clawperator.report import index
from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import DeviceUsed, TraceEvent, now, read_trace, traces_in
from pytest_clawperator.text import shown_path

_PHASES = ("setup", "call", "teardown")
_RERUN = "rerun"
_BY_WEIGHT: tuple[index.TestOutcome, ...] = (
    "rerun",
    "failed",
    "error",
    "broken off",
    "xpassed",
    "xfailed",
    "skipped",
)


class AttemptReports:
    """Turns reports into one record for each attempt, also if several workers report.

    ``relative`` returns a folder that a report names as the record is to name it.
    """

    def __init__(self, relative: Callable[[str], str]) -> None:
        self._relative = relative
        self._open: dict[tuple[str, str], index.TestEnded] = {}
        self._last: dict[str, index.TestEnded] = {}
        self._began: dict[str, float] = {}
        self._counts: Counter[str] = Counter()

    def began(self, nodeid: str, at: float) -> None:
        """Note when a test began."""
        self._began[nodeid] = at

    def add(self, report: pytest.TestReport) -> Iterator[TraceEvent]:
        """Add a report; yield the attempts that ended with it, or only moved to another device."""
        node = getattr(report, "node", None)
        worker = "" if node is None else str(node.gateway.id)
        key = worker, report.nodeid
        if report.when == "setup" and key in self._open:  # a rerun without a teardown
            yield from self._end(key)
        if report.when == "teardown" and key not in self._open:
            self._open_again(key)
        start = report.start or self._began.get(report.nodeid, now())
        attempt = self._open.get(key) or index.TestEnded(
            at=start, nodeid=report.nodeid, outcome="passed", worker=worker, start=start, stop=start
        )
        self._open[key] = self._with(attempt, report)
        # xdist reports a worker that died immediately, for no phase.
        if report.when not in ("setup", "call"):
            yield from self._end(key)

    def _open_again(self, key: tuple[str, str]) -> None:
        """Continue the attempt that ended last: its device was released after that, and failed."""
        last = self._last.get(key[0])
        if last is not None and last.nodeid == key[1]:
            self._open[key] = last
            self._counts[last.nodeid] -= 1

    def rest(self) -> Iterator[TraceEvent]:
        """Yield the attempts whose end was not reported: the run ended before they did."""
        why = index.ErrorSummary(message="the run ended before the test did")
        for key, attempt in list(self._open.items()):
            if attempt.outcome == "passed":
                self._open[key] = replace(attempt, outcome="broken off", error=why)
            yield from self._end(key)

    def _with(self, attempt: index.TestEnded, report: pytest.TestReport) -> index.TestEnded:
        """Return an attempt with what a report of it adds."""
        seconds = attempt.seconds
        if report.when in _PHASES and not hasattr(report, "context"):  # that of a subtest
            seconds = {**seconds, report.when: round(report.duration, 6)}
        devices = (*attempt.devices, *getattr(report, failures.USED_DEVICES, ()))
        folder = getattr(report, failures.EVIDENCE_FOLDER, None)
        page = dict(report.user_properties).get(failures.TRACE_PROPERTY)
        is_blamed = report.outcome in ("failed", _RERUN) and failures.is_devices_fault(report)
        is_part = hasattr(report, "context") and not report.failed  # a subtest: the test goes on
        outcomes = (attempt.outcome, attempt.outcome if is_part else _outcome(report))
        outcome: index.TestOutcome = next((one for one in _BY_WEIGHT if one in outcomes), "passed")
        if getattr(report, failures.RELEASED_BADLY, False) and outcome != "failed":
            outcome = "error"
        return replace(
            attempt,
            outcome=outcome,
            stop=max(attempt.stop, report.stop or now()),
            seconds=seconds,
            devices=tuple(dict.fromkeys(devices)),
            markers=getattr(report, failures.MARKERS, attempt.markers),
            folder=self._relative(folder) if folder else attempt.folder,
            page=self._relative(str(page)) if page else attempt.page,
            is_infrastructure=attempt.is_infrastructure or is_blamed,
            error=attempt.error if report.passed else attempt.error or _error(report),
        )

    def _end(self, key: tuple[str, str]) -> Iterator[TraceEvent]:
        attempt = self._open.pop(key)
        # A test that went to another device before it began was not run, and may have a trace.
        if attempt.outcome == "passed" and "call" not in attempt.seconds:
            yield index.TestMoved(
                at=now(),
                nodeid=attempt.nodeid,
                worker=attempt.worker,
                start=attempt.start,
                stop=attempt.stop,
            )
            return
        self._last[attempt.worker] = attempt
        self._counts[attempt.nodeid] += 1
        is_bad = attempt.outcome not in ("passed", "skipped", "xfailed")
        yield replace(
            attempt,
            at=now(),
            attempt=self._counts[attempt.nodeid],
            error=attempt.error if is_bad else None,
        )


def _outcome(report: pytest.TestReport) -> index.TestOutcome:
    if report.outcome == _RERUN:  # as some plugins have it
        return "rerun"
    if report.failed:
        is_own = report.when not in ("setup", "teardown") and not failures.is_devices_fault(report)
        return "failed" if is_own else "error"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return "skipped" if report.skipped else "passed"


def _error(report: pytest.TestReport) -> index.ErrorSummary | None:
    phase = report.when if report.when in _PHASES else ""
    given = getattr(report, failures.ERROR, None)
    if isinstance(given, dict):
        return index.ErrorSummary(**given, phase=phase)
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr or "") if crash is None else crash.message
    first = text.strip().partition("\n")[0]
    return index.ErrorSummary(message=first, phase=phase) if first else None


# Markers that say how a test is run, and not what it is.
_TECHNICAL = ("parametrize", "usefixtures", "filterwarnings")
_LONGEST_MESSAGE = 500


def add_facts(item: pytest.Item, report: pytest.TestReport, error: BaseException | None) -> None:
    """Add to a report what only the process of the test knows, for the index of the run."""
    if error is not None:
        setattr(report, failures.ERROR, _summary(error))
    if report.when == "setup":
        markers = dict.fromkeys(marker.name for marker in item.iter_markers())
        setattr(report, failures.MARKERS, [name for name in markers if name not in _TECHNICAL])
    if facts := _new_facts(item):
        setattr(report, failures.DEVICE_FACTS, facts)


def _summary(error: BaseException) -> dict[str, str]:
    lines = failures.message_of(error).splitlines()
    first = next(filter(str.strip, lines), type(error).__name__)[:_LONGEST_MESSAGE]
    code = failures.code_of(error)
    return {"message": first} if code is None else {"message": first, "code": code}


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
        self._log = index.RunLog(self._folder)
        self._attempts = AttemptReports(self._relative)
        self._page: Path | None = None
        self._is_kept = settings_of(config).trace != "off"
        self._log.add(index.RunBegan(at=now(), run=run_id(config), environment=VERSIONS))

    def begin_test(self, nodeid: str) -> None:
        """Note when a test began: its process may not live to report it."""
        self._attempts.began(nodeid, now())

    def add(self, report: pytest.TestReport) -> None:
        """Write a line when an attempt is over."""
        if not self._is_kept:
            return
        try:
            if getattr(report, failures.USED_DEVICES, None):
                self._log.open()
            for serial, about in getattr(report, failures.DEVICE_FACTS, {}).items():
                self._log.add(DeviceUsed(at=now(), serial=serial, about=about))
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
            self._log.add(index.RunEnded(at=now(), exit=int(exitstatus)))
            self._log.close()
            self._write_unfinished()
            index.write_index([index.read_run(self._folder)], self._folder / index.INDEX_FILE)
            self._page = self._folder / index.INDEX_FILE
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
                write_page(read_trace(trace.folder), trace.folder / index.PAGE_FILE)
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
