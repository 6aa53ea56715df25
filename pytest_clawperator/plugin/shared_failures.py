"""The terminal tells a failure once that tests share because the run is to blame.

The first such test is an error like any other; the others are counted beside it. Reports in
files have the reason with each test.
"""

from __future__ import annotations

import pytest

from pytest_clawperator.plugin.failures import SHARED_FAILURE
from pytest_clawperator.plugin.run import write_line
from pytest_clawperator.plugin.worker_input import is_worker

#: What the last line of the run counts the other tests as.
CATEGORY = "same error"


def pytest_configure(config: pytest.Config) -> None:
    """Tell them apart, except in workers, whose reports are told where they arrive."""
    if not is_worker(config):
        config.pluginmanager.register(SharedFailures(), "clawperator-shared-failures")


class SharedFailures:
    """Knows which test was the first with a cause, and which had the same one later."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._others: dict[str, set[str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str] | None:
        """Count a test beside the first that failed for the same cause."""
        cause = getattr(report, SHARED_FAILURE, None)
        if cause is None or not report.failed:
            return None
        if self._first.setdefault(cause, report.nodeid) == report.nodeid:
            return None
        self._others.setdefault(cause, set()).add(report.nodeid)
        return CATEGORY, "E", "ERROR"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write how many tests share each cause."""
        if not self._others:
            return
        terminalreporter.section(CATEGORY)
        for cause, others in self._others.items():
            text = f"{self._first[cause]} and {len(others)} more: {cause.splitlines()[0]}"
            write_line(terminalreporter, text, red=True)
