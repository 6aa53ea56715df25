"""Failures that many tests share because the run, and none of them, is to blame.

Each test has its own verdict, with the whole reason. What is shared is marked here, so that
the terminal can tell it once.
"""

from __future__ import annotations

import pytest

from pytest_clawperator.plugin.session.report_fields import SHARED_FAILURE

_MARK = "clawperator_shared"


def mark_shared(error: BaseException, cause: str) -> None:
    """Mark an error as one that other tests have for the same cause."""
    setattr(error, _MARK, cause)


def is_shared(error: BaseException | None) -> bool:
    """Whether an error says nothing about the test that has it."""
    return hasattr(error, _MARK)


def report_shared(report: pytest.TestReport, error: BaseException | None) -> None:
    """Have the report say what it shares with others."""
    cause = getattr(error, _MARK, None)
    if report.failed and isinstance(cause, str):
        setattr(report, SHARED_FAILURE, cause)
