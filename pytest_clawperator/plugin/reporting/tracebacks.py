"""Our errors in reports: tracebacks cut to the lines of the test, messages that begin with it."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

import pytest

from pytest_clawperator.errors import ClawperatorError, ExpectationError
from pytest_clawperator.text import visible

# Whose lines are not the test's: ours, those of who calls fixtures, and Python's own.
_INNER = (__name__.partition(".")[0], "_pytest", "pluggy")
_PYTHON = str(Path(os.__file__).parent)


def end_in_test(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """End the traceback of one of our errors in the test's own line: the message has the rest."""
    if not isinstance(excinfo.value, ClawperatorError):
        return
    last: TracebackType | None = None
    trace: TracebackType | None = excinfo.tb
    while trace is not None:
        last = last if _is_inner(trace) else trace
        trace = trace.tb_next
    if last is not None:  # a fixture of ours that fails has no line of a test to end in
        last.tb_next = None


def hide_inner_causes(report: pytest.TestReport, error: BaseException | None) -> None:
    """Leave out the causes that were caught inside of the package: the message has the rest."""
    if not isinstance(error, ClawperatorError):
        return
    chain = getattr(report.longrepr, "chain", None)
    if chain is None:
        return
    shown = 1
    before = _before(error)
    while before is not None and shown < len(chain):
        if before.__traceback__ is not None and _is_inner(before.__traceback__):
            break
        shown += 1
        before = _before(before)
    report.longrepr.chain = chain[-shown:]  # type: ignore[union-attr]  # a chain has one


def begin_with_code(report: pytest.TestReport, error: BaseException | None) -> None:
    """Have lines that are cut short begin with what happened, and not with class and device.

    Both are in the traceback, and files have the device as a property of the test.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and isinstance(error, (ClawperatorError, ExpectationError)):
        crash.message = str(error).removeprefix(visible(f"[{error.serial}] "))


def _before(error: BaseException) -> BaseException | None:
    hidden = None if error.__suppress_context__ else error.__context__
    return error.__cause__ or hidden


def _is_inner(trace: TracebackType) -> bool:
    """Whether a line is nothing that the author of the test can change."""
    name: str = trace.tb_frame.f_globals.get("__name__", "")
    file = trace.tb_frame.f_code.co_filename
    is_python = file.startswith(_PYTHON) and "site-packages" not in file
    return is_python or name.partition(".")[0] in _INNER
