"""At the end of a run: where the evidence is, and what took longest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from pytest_clawperator.plugin.clients import clients_of
from pytest_clawperator.plugin.failures import CRASHES, EVIDENCE_FOLDER, HAS_FAILED, SLOWEST
from pytest_clawperator.plugin.run import run_id, write_line
from pytest_clawperator.plugin.worker_input import is_worker

_PER_TEST, _PER_RUN = 3, 5

# Nobody waits for less.
_SLOW = 1.0


def pytest_configure(config: pytest.Config) -> None:
    """Add up, except in workers, whose reports are added up where they arrive."""
    if not is_worker(config):
        config.pluginmanager.register(Summary(), "clawperator-summary")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the slowest actions to the last report of a test."""
    report = yield
    if report.when == "teardown" and (clients := clients_of(item)):
        timed = [one for client in clients for one in client.timed]
        slowest = sorted(timed, key=lambda one: one.seconds, reverse=True)[:_PER_TEST]
        setattr(report, SLOWEST, [[one.seconds, one.label] for one in slowest])
    return report


class Summary:
    """Collects evidence and slow actions from reports, and prints them."""

    def __init__(self) -> None:
        self._evidence: dict[str, list[str]] = {}
        self._crashes: dict[str, list[str]] = {}
        self._failed: set[str] = set()
        self._slowest: list[tuple[float, str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what a report has."""
        folder = getattr(report, EVIDENCE_FOLDER, None)
        if folder is not None:
            folders = self._evidence.setdefault(report.nodeid, [])
            folders += [folder] if folder not in folders else []
            crashes = self._crashes.setdefault(folder, [])
            found = getattr(report, CRASHES, ())
            crashes += [crash for crash in found if crash not in crashes]
            if getattr(report, HAS_FAILED, False):
                self._failed.add(report.nodeid)
        timed = getattr(report, SLOWEST, ())
        self._slowest += [(seconds, label, report.nodeid) for seconds, label in timed]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the slowest actions, and where the evidence is."""
        verbosity = terminalreporter.config.get_verbosity()
        if verbosity < 0:
            return
        least = 0.0 if verbosity > 0 else _SLOW
        slowest = sorted((one for one in self._slowest if one[0] >= least), reverse=True)
        if slowest:
            terminalreporter.section("slowest actions")
            for seconds, label, test in slowest[:_PER_RUN]:
                write_line(terminalreporter, f"{seconds:6.2f}s {label}  ({test})")
        self._write_evidence(terminalreporter)

    def _write_evidence(self, reporter: pytest.TerminalReporter) -> None:
        """List the folders of tests that failed below that of the run, and count the others."""
        found = self._found(reporter.config.invocation_params.dir)
        if not found:
            return
        reporter.section("evidence")
        failed: dict[str, list[str]] = {}
        for test in [test for test in found if test in self._failed]:
            for folder in found.pop(test):
                failed.setdefault(_run_of(folder, reporter.config), []).append(folder)
        passed = Counter(_run_of(folders[0], reporter.config) for folders in found.values())
        for place in dict.fromkeys([*failed, *passed]):
            write_line(reporter, place)
            self._write_folders(reporter, place, failed.get(place, []))
            if count := passed[place]:
                write_line(reporter, f"  {count} test{'s' * (count > 1)} that did not fail")

    def _write_folders(
        self, reporter: pytest.TerminalReporter, place: str, folders: Sequence[str]
    ) -> None:
        for folder in folders:
            write_line(reporter, f"  {Path(folder).relative_to(place)}")
            for crash in self._crashes[folder]:
                write_line(reporter, f"    {crash}", red=True)

    def _found(self, start: Path) -> dict[str, list[str]]:
        """Return the folders of each test that nobody deleted since."""
        there = {
            test: [folder for folder in folders if (start / folder).is_dir()]
            for test, folders in self._evidence.items()
        }
        return {test: folders for test, folders in there.items() if folders}


def _run_of(folder: str, config: pytest.Config) -> str:
    """Return the folder of the run that the folder of a test is in."""
    name = run_id(config)
    return next((str(place) for place in Path(folder).parents if place.name == name), folder)
