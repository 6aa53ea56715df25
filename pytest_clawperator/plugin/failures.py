"""Failures: whether the device or the test is at fault, and what reports contain about it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import pytest

from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    DeviceError,
    DispatchError,
    ErrorCode,
    ExecutionsOnlyError,
    ExpectationError,
    PayloadError,
    PayloadRefusedError,
    ShellError,
    SnapshotError,
    TransportError,
)
from pytest_clawperator.remedies import Remedy, RemedyKind, in_words, worded
from pytest_clawperator.text import visible

#: Property of a test: the serial of the device it ran on.
DEVICE_PROPERTY = "clawperator_device"
#: Property of a test: the label of its class in a matrix.
CLASS_PROPERTY = "clawperator_class"
#: Property of a test: the page of its trace.
TRACE_PROPERTY = "clawperator_trace"
#: Attribute: the failure is the device's and not the test's; its value is the serial, or True.
INFRASTRUCTURE = "clawperator_infrastructure"
#: Attribute: the serial of a device that was put aside.
PUT_ASIDE = "clawperator_put_aside"
#: Attribute: a device could not be released, which counts even if the test is run once more.
RELEASED_BADLY = "clawperator_released_badly"
#: Attribute: what failed is an assertion, even if it is in a group.
ASSERTED = "clawperator_asserted"
#: Attribute: the device is not leased to this run, so the device itself is not at fault.
LEASE_PROBLEM = "clawperator_lease"
#: Attribute: the cause that the failure shares with those of other tests.
SHARED_FAILURE = "clawperator_shared_failure"
#: Attributes: where the evidence of the test is, what crashed meanwhile, whether a phase failed.
EVIDENCE_FOLDER, CRASHES, HAS_FAILED = (
    "clawperator_folder",
    "clawperator_crashes",
    "clawperator_has_failed",
)
#: Attribute: the slowest actions of the test, as seconds and words.
SLOWEST = "clawperator_slowest"
#: Attributes: notices about devices, and by their serials the lines that describe the used ones.
NOTICES, USED_DEVICES = "clawperator_notices", "clawperator_used"
#: Attributes: why a phase did not pass, as code and message; the markers of the test; and by
#: their serials the properties of devices that no earlier report of this process described.
ERROR, MARKERS, DEVICE_FACTS = "clawperator_error", "clawperator_markers", "clawperator_facts"
T = TypeVar("T")
_BY_HAND = "by hand: Settings, Accessibility, Clawperator; or restart the device"
_FOR_PYTEST: Mapping[RemedyKind, str] = {
    RemedyKind.CHOOSE_DEVICE: "choose one: --claw-device {typed}; or any: --claw-device auto; or"
    " all, with one worker each: -n {count} --claw-device auto",
    RemedyKind.CHOOSE_REMOTE_DEVICE: "choose one: --claw-device {url}/{typed}",
    RemedyKind.CORRECT_SERIAL: "correct --claw-device",
    RemedyKind.CORRECT_URL: "give the address that `clawperator serve` prints when it starts, as"
    " in --claw-device http://127.0.0.1:3000",
    RemedyKind.CONNECT_BY_ADB: "name the device as adb does: --claw-device SERIAL",
    RemedyKind.USE_SIMULATOR: "use simulated phones: --claw-device sim",
    RemedyKind.CREATE_EMULATOR: "let the run create it: --claw-device emulator --claw-emulator"
    " name={subject}",
    RemedyKind.WAIT_FOR_DEVICE: "wait for it with --claw-lease-timeout SECONDS",
    RemedyKind.START_FEWER_WORKERS: "run with -n {count}",
    RemedyKind.KEEP_FEWER_SPARES: "lower --claw-spare-devices",
    RemedyKind.KEEP_SPARES: "keep more of the devices from the workers: --claw-spare-devices"
    " {count}",
    RemedyKind.SELECT_CANDIDATE: "have the hook pytest_clawperator_select_device return one of"
    " the candidates that it was given",
    RemedyKind.INSTALL_OPERATOR: "install {subject}: --claw-operator-apk=path/to/operator.apk",
    RemedyKind.CORRECT_APK: "correct --claw-operator-apk",
    RemedyKind.USE_PACKAGE: "use that one: --claw-operator-package {subject}",
    RemedyKind.NAME_PACKAGE: "name its package: --claw-operator-package PACKAGE",
    RemedyKind.SWITCH_SERVICE_ON: f"switch it on {_BY_HAND}",
    RemedyKind.RESTORE_SERVICE: "before the next test it is switched on again; should it stay off,"
    f" do so {_BY_HAND}",
    RemedyKind.RECOVER_FROM_CRASH: "before the next test its service is switched on again; the"
    " device's log, which is kept with the evidence, has the whole stack trace; should it crash"
    " again, install another version: --claw-operator-apk=path/to/operator.apk",
    RemedyKind.RUN_DOCTOR: "find out what is wrong with `pytest --claw-doctor`",
    RemedyKind.TAKE_FIRST: "let the first win, as on the device:"
    " @pytest.mark.claw_matchers('first') or --claw-matchers=first",
    RemedyKind.RETURN_ENVELOPE: "have each function of the hook pytest_clawperator_processors"
    " return the envelope that it was given",
    RemedyKind.WRITE_GOLDEN: "run pytest with --claw-update-goldens to write {subject}",
    RemedyKind.REPLACE_GOLDEN: "run pytest with --claw-update-goldens to write {subject} again",
}


def for_pytest(remedy: Remedy) -> str:
    """Word a remedy for people who run pytest."""
    return worded(remedy, _FOR_PYTEST)


def hint_of(error: ClawperatorError) -> str | None:
    """Return the hint of an error, in terms of options."""
    return in_words(error.advice, for_pytest)


def in_options(do: Callable[[], T]) -> T:
    """Call the function; word its errors for pytest, and leave out their inner frames."""
    __tracebackhide__ = True
    try:
        return do()
    except ClawperatorError as error:
        error.wording = for_pytest
        raise error.with_traceback(None) from None  # the message has all there is to know


def name_options(error: BaseException | None) -> None:
    """Word the hints of an error, and of its causes, as options."""
    for one in with_causes(error):
        if isinstance(one, (ClawperatorError, ExpectationError)):
            one.wording = for_pytest


def message_of(error: BaseException) -> str:
    """Return the message of an error, without what its text adds to that."""
    message = getattr(error, "message", None)
    return message if isinstance(message, str) else str(error)


def first_line(error: BaseException) -> str:
    """Return the first line of the message of an error."""
    return message_of(error).partition("\n")[0]


def code_of(subject: object) -> str | None:
    """Return the code of an error or a result as text, if it has one."""
    code = getattr(subject, "code", None)
    return None if code is None else str(getattr(code, "value", code))


def with_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, what it holds, and what led to these."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop(0)
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [*_held_by(one), one.__cause__ or one.__context__]


#: What the messages of such reports begin with.
PREFIX = "infrastructure: "
# A device whose screen cannot be read; other trouble with snapshots is the test's own.
_UNREADABLE = (
    ErrorCode.SNAPSHOT_EXTRACTION_FAILED,
    ErrorCode.SNAPSHOT_UNREADABLE,
    ErrorCode.UI_TREE_UNAVAILABLE,
)


def device_trouble(error: BaseException | None) -> ClawperatorError | None:
    """Return the trouble with a device, or with the connection to it, that an error is or holds.

    This alone decides whether a test failed or its device did, whatever kind of test it is: the
    trouble may be one of a group (``asyncio.TaskGroup``, hypothesis, several fixtures that end),
    in what a doctest raises, or the declared cause of an error that is not ours.
    """
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, ClawperatorError):
            if _is_trouble(one):
                return one
        elif not isinstance(one, ExpectationError):
            waiting += [*_held_by(one), one.__cause__]
    return None


def _is_trouble(error: ClawperatorError) -> bool:
    if isinstance(error, SnapshotError):  # one without a device is read from a file
        return error.code in _UNREADABLE and error.serial is not None
    if not isinstance(error, (DeviceError, TransportError, DispatchError)):
        return False
    # Here the device answered, and refused.
    is_refusal = isinstance(error, (ShellError, PayloadRefusedError))
    return not is_refusal and error.code != ErrorCode.FILE_UNAVAILABLE


def _held_by(error: BaseException) -> list[BaseException]:
    """Return the errors that a group consists of, or that made a doctest fail."""
    held = [*_listed(error, "exceptions"), *_listed(error, "failures")]
    raised = _listed(error, "exc_info")[1:2]  # as sys.exc_info() has it
    return [one for one in (*held, *raised) if isinstance(one, BaseException)]


def _listed(error: BaseException, name: str) -> Sequence[object]:
    found = getattr(error, name, ())
    return found if isinstance(found, (tuple, list)) else ()


def is_devices_fault(report: pytest.TestReport) -> bool:
    """Whether a phase failed because of a device."""
    return bool(getattr(report, INFRASTRUCTURE, False))


def is_asserted(error: BaseException | None) -> bool:
    """Whether an error, or all that it holds, means that something is not as it should be."""
    if error is not None and (held := _held_by(error)):
        return all(map(is_asserted, held))
    return isinstance(error, (AssertionError, pytest.fail.Exception))


def is_beyond_xfail(
    error: BaseException | None, *, when: str, raises: Sequence[type[BaseException]] = ()
) -> bool:
    """Whether no test can be expected to fail so: its device did, it never ran, or is mistaken.

    ``raises`` are the types that the test says it expects: it may mean a mistake.
    """
    is_refused = when == "setup" and isinstance(error, (ConfigurationError, PayloadError))
    is_unsupported = isinstance(error, ExecutionsOnlyError)
    is_marked = is_shared(error) or hasattr(error, _BEYOND_XFAIL)
    if is_refused or is_unsupported or is_marked or device_trouble(error) is not None:
        return True
    is_meant = any(issubclass(one, _MISTAKES) and isinstance(error, one) for one in raises)
    return is_mistake(error) and not is_meant


_MISTAKES = (ConfigurationError, TypeError)
# How Python words a call that does not fit, with the class and the method.
_MISCALL = re.compile(r"(\w+)\.(\w+)\(\) (?:got|missing|takes) ")


def is_mistake(error: BaseException | None) -> bool:
    """Whether the test itself is wrong: it expects nothing, or misspells what it asks for."""
    if isinstance(error, TypeError) and (call := _MISCALL.match(str(error))):
        return any(hasattr(kind, call[2]) for kind in _own_classes(call[1]))
    held = () if error is None else _held_by(error)
    return isinstance(error, ConfigurationError) or any(map(is_mistake, held))


def _own_classes(name: str) -> Iterator[type]:
    own = __name__.partition(".")[0]
    for module in [kept for at, kept in sys.modules.items() if at.partition(".")[0] == own]:
        found = vars(module).get(name)
        if isinstance(found, type) and found.__module__.partition(".")[0] == own:
            yield found


_BEYOND_XFAIL = "clawperator_beyond_xfail"


def beyond_xfail(message: str) -> BaseException:
    """Return the failure of a test that cannot be expected: it cannot run as it is written."""
    error = pytest.fail.Exception(visible(message), pytrace=False)
    put_beyond_xfail(error)
    return error


def put_beyond_xfail(error: BaseException) -> None:
    """Mark an error that keeps a test from running."""
    setattr(error, _BEYOND_XFAIL, True)


def is_put_aside(error: BaseException | None) -> bool:
    """Whether an error only repeats that the device was put aside before."""
    details = getattr(error, "details", None)
    return isinstance(details, dict) and bool(details.get("put_aside"))


def begin_message(report: pytest.TestReport, text: str) -> None:
    """Begin the message of a report with what happened to the device."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:  # what the summary of the run and JUnit show
        crash.message = visible(f"{PREFIX}{text}")
    else:  # a test without Python, or a doctest: they show the beginning of the whole
        first, shown = text.partition("\n")[0], report.longreprtext
        rest = shown.partition("\n")[2] if first in shown.partition("\n")[0] else shown
        report.longrepr = "\n".join(filter(None, [visible(f"{PREFIX}{first}"), rest]))


_MARK = "clawperator_shared"


def mark_shared(error: BaseException, cause: str) -> None:
    """Mark an error as one that other tests have for the same cause."""
    setattr(error, _MARK, cause)


def is_shared(error: BaseException | None) -> bool:
    """Whether an error is shared by many tests, and so not specific to one."""
    return hasattr(error, _MARK)


def report_shared(report: pytest.TestReport, error: BaseException | None) -> None:
    """Mark a report with the cause that it shares with others."""
    cause = getattr(error, _MARK, None)
    if report.failed and isinstance(cause, str):
        setattr(report, SHARED_FAILURE, cause)


# Frames that are not the test's: ours, those of pytest, and those of Python's own library.
_INNER = (__name__.partition(".")[0], "_pytest", "pluggy")
_PYTHON = str(Path(os.__file__).parent)


def end_in_test(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Cut the traceback of one of our errors at the test's own line; the message explains it."""
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
    """Leave out causes that were caught inside the package; the message explains them."""
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
    """Start the summary line with what happened, not with the class and the device.

    Both are in the traceback, and files have the device as a property of the test.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and isinstance(error, (ClawperatorError, ExpectationError)):
        crash.message = str(error).removeprefix(visible(f"[{error.serial}] "))


def _before(error: BaseException) -> BaseException | None:
    hidden = None if error.__suppress_context__ else error.__context__
    return error.__cause__ or hidden


def _is_inner(trace: TracebackType) -> bool:
    """Whether a frame is not code that the author of the test can change."""
    name: str = trace.tb_frame.f_globals.get("__name__", "")
    file = trace.tb_frame.f_code.co_filename
    is_python = file.startswith(_PYTHON) and "site-packages" not in file
    return is_python or name.partition(".")[0] in _INNER
