"""Infrastructure is not a test failure: a device that fails under a test is told as an error."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeGuard

import pytest

from pytest_clawperator.plugin.stash import ENDED, EVENTS, HEALTH

if TYPE_CHECKING:
    from pytest_clawperator.errors import ClawperatorError

#: Of a report: that it is about the device and not about the test, and which device it is.
INFRASTRUCTURE = "clawperator_infrastructure"

#: Of a report: the serial of the device that was given up.
PUT_ASIDE = "clawperator_put_aside"

#: What the messages of such reports begin with.
FIRST = "infrastructure: "
#: The plugin that looks after the phones that this process started.
SIMULATED = "clawperator-simulated"
#: What to do about phones that ended.
PHONES_HINT = (
    "See what ended it (the system's log tells of memory that ran out), and run the tests again."
)

#: What a worker asks the controller: how the process of a simulated phone ended.
ENDED_HOW = "phones ended how"
_ANSWER_WITHIN = 10.0

# Whose lines are not the test's: ours, those of who calls fixtures, and Python's own.
_INNER = (__name__.partition(".")[0], "_pytest", "pluggy")
_PYTHON = str(Path(os.__file__).parent)


def pytest_configure(config: pytest.Config) -> None:
    """See to the other report, except in workers, whose reports are written elsewhere."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(JUnitErrors(config.pluginmanager), "clawperator-junit")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say first that it was the device that failed, and where in the test that was."""
    is_full = item.config.getoption("fulltrace", False)
    error = call.excinfo.value if call.excinfo is not None else None
    end = _blame_phones(item.config, error) if is_infrastructure(error) else None
    if call.excinfo is not None and not is_full:
        _end_in_test(call.excinfo)
    with _expecting_nothing(item) if is_infrastructure(error) else nullcontext():
        report = yield
    if _is_ours(error) and not is_full:
        _end_in_cause(report, error)
    if report.failed and is_infrastructure(error):
        setattr(report, INFRASTRUCTURE, error.serial or True)
        if is_put_aside(error) or _is_given_up(item.config, error.serial):
            setattr(report, PUT_ASIDE, error.serial)
        say_first(report, f"{error.code}: {error.message}")
        # What is found out before a test was told by its check.
        if report.when != "setup" and end is None:
            _tell(item.config, error)
    return report


@contextmanager
def _expecting_nothing(item: pytest.Item) -> Iterator[None]:
    """Forget for a moment that a test is marked to fail, which says nothing of its device.

    A report that is corrected afterwards comes too late for others who read it, as Allure does.
    """
    # Where pytest's own part for this keeps it; there is no public name.
    key = getattr(item.config.pluginmanager.get_plugin("skipping"), "xfailed_key", None)
    if key is None:
        yield
        return
    expected, item.stash[key] = item.stash.get(key, None), None
    try:
        yield
    finally:
        item.stash[key] = expected


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count a test whose device failed as an error."""
    return ("error", "E", "ERROR") if _failed_in_call(report) else None


class JUnitErrors:
    """Has JUnit XML count tests whose device failed as errors.

    By itself it takes whatever happens during a call for a failure of the test.
    """

    def __init__(self, pluginmanager: pytest.PytestPluginManager) -> None:
        self._plugins = pluginmanager

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Correct what was just written down."""
        if not _failed_in_call(report):
            return
        for xml in junit_logs(self._plugins):
            _correct(xml, report)


def junit_logs(pluginmanager: pytest.PytestPluginManager) -> list[Any]:
    """Give who writes JUnit XML, if it is asked for; pytest has no public name for it."""
    return [one for one in pluginmanager.get_plugins() if type(one).__name__ == "LogXML"]


def _failed_in_call(report: pytest.TestReport) -> bool:
    is_infrastructure = getattr(report, INFRASTRUCTURE, False)
    return bool(is_infrastructure and report.when == "call" and report.failed)


def _correct(xml: Any, report: pytest.TestReport) -> None:
    for node in xml.node_reporter(report).nodes:
        if node.tag == "failure":
            node.tag = "error"
            xml.stats["failure"] -= 1
            xml.stats["error"] += 1


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


def _is_given_up(config: pytest.Config, serial: str | None) -> bool:
    """Tell whether a device of this process failed its check twice."""
    looked_after = config.stash.get(HEALTH, {}).items()
    return any(health.is_put_aside and runner.serial == serial for runner, health in looked_after)


def is_put_aside(error: BaseException | None) -> bool:
    """Tell whether an error only says that the device was given up before."""
    details = getattr(error, "details", None)
    return isinstance(details, dict) and bool(details.get("put_aside"))


def end_of_phones(
    config: pytest.Config, serial: str | None, *, in_trouble: bool = True
) -> str | None:
    """Say how the process of a simulated phone ended; None where it runs, or is not ours.

    A worker asks the controller, whose phones they are, but only where there is trouble.
    """
    if hasattr(config, "workerinput"):
        from pytest_clawperator.plugin.leasing.worker_device import HANDED_LEASE

        serial = serial or config.workerinput.get(HANDED_LEASE, {}).get("serial")
        known = config.stash.setdefault(ENDED, {})
        if in_trouble and serial not in known and (told := _ask_how(config, serial)):
            known[serial] = told
        return known.get(serial)
    phones = config.pluginmanager.get_plugin(SIMULATED)
    end: str | None = None if phones is None else phones.end_of(serial, in_trouble=in_trouble)
    return end


def answer_how(node: Any, serial: str | None) -> None:
    """Answer a worker that asks how the process of a simulated phone ended."""
    from pytest_clawperator.plugin.xdist.channel import answer

    phones = node.config.pluginmanager.get_plugin(SIMULATED)
    answer(node, ENDED_HOW, phones.look(serial) if phones is not None else None)


def _ask_how(config: pytest.Config, serial: str | None) -> str | None:
    from pytest_clawperator.plugin.xdist.channel import COURIER, ask

    if COURIER not in config.workerinput:  # type: ignore[attr-defined]  # xdist adds it
        return None
    try:
        end: str | None = ask(config, ENDED_HOW, serial, timeout=_ANSWER_WITHIN)
    except (OSError, EOFError):  # the controller is gone, or busy
        return None
    return end


def _blame_phones(config: pytest.Config, error: ClawperatorError) -> str | None:
    """Say first that phones are gone: that adb does not answer is only what follows from it."""
    end = end_of_phones(config, error.serial)
    # A fixture of several tests fails with the same error for each.
    if end is not None and end not in error.message:
        error.message, error.hint = f"{end}: {error.message}", PHONES_HINT
    return end


def _is_ours(error: BaseException | None) -> TypeGuard[ClawperatorError]:
    errors = sys.modules.get("pytest_clawperator.errors")
    return errors is not None and isinstance(error, errors.ClawperatorError)


def _end_in_test(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Let errors about devices end in the test's own line: their messages tell the rest."""
    if not _is_ours(excinfo.value):
        return
    last: TracebackType | None = None
    trace: TracebackType | None = excinfo.tb
    while trace is not None:
        last = last if _is_inner(trace) else trace
        trace = trace.tb_next
    if last is not None:  # a fixture of ours that fails has no line of a test to end in
        last.tb_next = None


def _end_in_cause(report: pytest.TestReport, error: BaseException) -> None:
    """Leave out what was caught inside of the package: the message has what is worth knowing."""
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


def _before(error: BaseException) -> BaseException | None:
    hidden = None if error.__suppress_context__ else error.__context__
    return error.__cause__ or hidden


def _is_inner(trace: TracebackType) -> bool:
    """Tell whether a line is nothing that who wrote the test can change."""
    name: str = trace.tb_frame.f_globals.get("__name__", "")
    file = trace.tb_frame.f_code.co_filename
    is_python = file.startswith(_PYTHON) and "site-packages" not in file
    return is_python or name.partition(".")[0] in _INNER


def say_first(report: pytest.TestReport, text: str) -> None:
    """Let a report begin with what became of the device."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:  # what the summary of the run and JUnit show
        crash.message = f"{FIRST}{text}"


def _tell(config: pytest.Config, error: ClawperatorError) -> None:
    events = config.stash.get(EVENTS, None)
    if events is not None:
        events.notice(error.serial or "", f"{error.code}: {error.message.splitlines()[0]}")
