"""At the end of a run: the tests that no device fitted, so that nobody takes them for run."""

from __future__ import annotations

import pytest

from pytest_clawperator.plugin.input.option_values import settings_of
from pytest_clawperator.plugin.session.terminal_lines import write_line
from pytest_clawperator.plugin.stash import UNFIT_TESTS

_WHAT_TO_DO = "These tests were skipped; --claw-strict makes it an error, as it is where CI is set."


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write which were skipped, also where the run is quiet; those that failed speak themselves."""
    config = terminalreporter.config
    told = config.stash.get(UNFIT_TESTS, [])
    if told and not settings_of(config).strict:
        terminalreporter.section("no device fits", bold=True, yellow=True)
        for text in told:
            write_line(terminalreporter, text, bold=True, yellow=True)
        write_line(terminalreporter, _WHAT_TO_DO, yellow=True)
