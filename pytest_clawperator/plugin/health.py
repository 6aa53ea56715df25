"""Infrastructure is not a test failure: a device that fails under a test is told as an error."""

from __future__ import annotations

import sys
from collections.abc import Generator
from types import TracebackType
from typing import TYPE_CHECKING, TypeGuard

import pytest

from pytest_clawperator.plugin.stash import EVENTS

if TYPE_CHECKING:
    from pytest_clawperator.errors import ClawperatorError

#: Of a report: that it is about the device and not about the test.
INFRASTRUCTURE = "clawperator_infrastructure"

_FIRST = "infrastructure: "
_OWN = __name__.partition(".")[0]
# Who calls fixtures: one of ours that fails has no line of a test to end in.
_CALLERS = ("_pytest", "pluggy")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say first that it was the device that failed, and where in the test that was."""
    if call.excinfo is not None and not item.config.getoption("fulltrace", False):
        _end_in_test(call.excinfo)
    report = yield
    error = call.excinfo.value if call.excinfo is not None and report.failed else None
    if is_infrastructure(error):
        setattr(report, INFRASTRUCTURE, True)
        _say_first(report, f"{error.code}: {error.message}")
        if report.when != "setup":  # what is found out before a test was told by its check
            _tell(item.config, error)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count a test whose device failed as an error."""
    if getattr(report, INFRASTRUCTURE, False) and report.when == "call" and report.failed:
        return "error", "E", "ERROR"
    return None


def is_infrastructure(error: BaseException | None) -> TypeGuard[ClawperatorError]:
    """Tell whether an error says that the device, or the way to it, does not work."""
    if error is None:
        return False
    from pytest_clawperator import errors

    if not isinstance(error, (errors.DeviceError, errors.TransportError, errors.DispatchError)):
        return False
    # Here the device answered, and said no.
    is_refusal = isinstance(error, (errors.ShellError, errors.PayloadRefusedError))
    return not is_refusal and error.code != errors.ErrorCode.FILE_UNAVAILABLE


def is_put_aside(error: BaseException | None) -> bool:
    """Tell whether an error only says that the device was given up before."""
    details = getattr(error, "details", None)
    return isinstance(details, dict) and bool(details.get("put_aside"))


def _end_in_test(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Let errors about devices end in the test's own line: their messages tell the rest."""
    errors = sys.modules.get("pytest_clawperator.errors")
    if errors is None or not isinstance(excinfo.value, errors.ClawperatorError):
        return
    last: TracebackType | None = None
    trace: TracebackType | None = excinfo.tb
    while trace is not None:
        if _package_of(trace) != _OWN:
            last = trace
        trace = trace.tb_next
    if last is not None and _package_of(last) not in _CALLERS:
        last.tb_next = None


def _package_of(trace: TracebackType) -> str:
    name: str = trace.tb_frame.f_globals.get("__name__", "")
    return name.partition(".")[0]


def _say_first(report: pytest.TestReport, text: str) -> None:
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:  # what the summary of the run and JUnit show
        crash.message = f"{_FIRST}{text}"


def _tell(config: pytest.Config, error: ClawperatorError) -> None:
    events = config.stash.get(EVENTS, None)
    if events is not None:
        events.notice(error.serial or "", f"{error.code}: {error.message.splitlines()[0]}")
