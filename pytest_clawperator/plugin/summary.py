"""At the end of a run: where the evidence of failures is, and what took longest."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_clawperator.plugin.clients import clients_of

#: Of a report: where the evidence of its test is, and what crashed meanwhile.
FOLDER, CRASHES = "clawperator_folder", "clawperator_crashes"
#: Of a report: the slowest actions of its test, as seconds and words.
SLOWEST = "clawperator_slowest"

_PER_TEST, _PER_RUN = 3, 5
# Nobody waits for less.
_SLOW = 1.0


def pytest_configure(config: pytest.Config) -> None:
    """Add up, except in workers, whose reports are added up where they arrive."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary(), "clawperator-summary")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the slowest actions travel with the last report of a test."""
    report = yield
    if report.when == "teardown" and (clients := clients_of(item)):
        timed = [one for watched in clients for one in watched.timed]
        slowest = sorted(timed, key=lambda one: one.seconds, reverse=True)[:_PER_TEST]
        setattr(report, SLOWEST, [[one.seconds, one.label] for one in slowest])
    return report


class Summary:
    """Collects what the reports tell, and prints it."""

    def __init__(self) -> None:
        self._evidence: dict[str, list[str]] = {}
        self._crashes: dict[str, list[str]] = {}
        self._slowest: list[tuple[float, str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in what a report tells."""
        folder = getattr(report, FOLDER, None)
        if folder is not None:
            folders = self._evidence.setdefault(report.nodeid, [])
            folders += [folder] if folder not in folders else []
            crashes = self._crashes.setdefault(folder, [])
            told = getattr(report, CRASHES, ())
            crashes += [crash for crash in told if crash not in crashes]
        timed = getattr(report, SLOWEST, ())
        self._slowest += [(seconds, label, report.nodeid) for seconds, label in timed]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where to look."""
        verbosity = terminalreporter.config.get_verbosity()
        if verbosity < 0:
            return
        least = 0.0 if verbosity > 0 else _SLOW
        slowest = sorted((one for one in self._slowest if one[0] >= least), reverse=True)
        if slowest:
            terminalreporter.section("slowest actions")
            for seconds, label, test in slowest[:_PER_RUN]:
                terminalreporter.line(f"{seconds:6.2f}s {label}  ({test})")
        if self._evidence:
            terminalreporter.section("evidence")
            for test, folders in self._evidence.items():
                terminalreporter.line(test)
                for folder in folders:
                    terminalreporter.line(f"  {folder}")
                    for crash in self._crashes[folder]:
                        terminalreporter.line(f"    {crash}", red=True)
