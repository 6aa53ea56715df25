"""The hints of errors in the words of pytest's users: options instead of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

from pytest_clawperator.errors import ClawperatorError, ExpectationError
from pytest_clawperator.remedies import Remedy, RemedyKind, in_words, worded

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
    RemedyKind.REPLACE_GOLDEN: "run pytest with --claw-update-goldens to write {subject} anew",
}


def for_pytest(remedy: Remedy) -> str:
    """Return the words for people who run pytest."""
    return worded(remedy, _FOR_PYTEST)


def hint_of(error: ClawperatorError) -> str | None:
    """Return what to do next, in options."""
    return in_words(error.advice, for_pytest)


def in_options(do: Callable[[], T]) -> T:
    """Call the function; its errors have hints that name options, and no inner frames."""
    __tracebackhide__ = True
    try:
        return do()
    except ClawperatorError as error:
        error.wording = for_pytest
        raise error.with_traceback(None) from None  # the message has all there is to know


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """Have the errors of tests and of their own fixtures name options, and their causes, too."""
    error = call.excinfo.value if call.excinfo is not None else None
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, (ClawperatorError, ExpectationError)):
            error.wording = for_pytest
        error = error.__cause__ or error.__context__
