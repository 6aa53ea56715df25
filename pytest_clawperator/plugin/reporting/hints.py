"""The hints of errors in the words of the command line instead of those of a script."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import pytest

from pytest_clawperator.errors import ClawperatorError, ErrorCode

T = TypeVar("T")

_SIMULATED = "use simulated phones: --claw-device sim"
_PLUG_IN = "Plug one in with USB debugging on (`adb devices` must call it `device`)"
_HINTS: dict[ErrorCode | str, str] = {
    ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED: "Choose one: --claw-device {first}; or"
    " any: --claw-device auto; or all, with one worker each: -n {count} --claw-device auto.",
    ErrorCode.DEVICE_NOT_FOUND: "Correct --claw-device, or connect the device: `adb devices` must"
    " list it.",
    ErrorCode.OPERATOR_NOT_INSTALLED: "Install it: --claw-operator-apk path/to/operator.apk.",
    ErrorCode.OPERATOR_VARIANT_MISMATCH: "Use that one: --claw-operator-package {installed}; or"
    " install the wanted one: --claw-operator-apk path/to/operator.apk.",
    ErrorCode.OPERATOR_VERIFY_FAILED: "Say which package it is: --claw-operator-package PACKAGE;"
    " and see that the file is the Operator's APK.",
    ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING: "Switch the service on by hand: Settings,"
    " Accessibility, Clawperator; or restart the device.",
    ErrorCode.SERVICE_UNAVAILABLE: "Before the next test it is switched on again; should it stay"
    " off, do so by hand: Settings, Accessibility, Clawperator; or restart the device.",
    ErrorCode.OPERATOR_CRASHED: "Before the next test its service is switched on again. The"
    " device's log, which is kept with the evidence, has the whole stack trace; should it crash"
    " again, install another version: --claw-operator-apk path/to/operator.apk.",
    ErrorCode.DEVICE_SHELL_UNAVAILABLE: "Name the device as adb does: --claw-device SERIAL.",
}
# What a script would write, and nobody can in a test.
_FOR_SCRIPTS = re.compile(r"\bconnect\(|\bserial=")
_URL_CALL = re.compile(
    r"connect\(url=(?P<url>[^,)]+)(?:, (?P<name>serial|operator_package)=(?P<value>[^)]+))?\)"
)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """Let the errors of tests and of their own fixtures name options, too."""
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, ClawperatorError):
        error.hint = hint_of(error)


def in_options(do: Callable[[], T]) -> T:
    """Do something; let its errors out with hints that name options, and without inner frames."""
    __tracebackhide__ = True
    try:
        return do()
    except ClawperatorError as error:
        error.hint = hint_of(error)
        raise error.with_traceback(None) from None  # the message tells all there is to know


def hint_of(error: ClawperatorError) -> str | None:
    """Give what to do next, in options."""
    hint = error.hint or ""
    if error.code == ErrorCode.NO_DEVICES:
        return _without_device(hint)
    if not _FOR_SCRIPTS.search(hint):
        return error.hint
    if _URL_CALL.search(hint):
        return _URL_CALL.sub(_option, hint)
    devices = error.details.get("devices") or error.details.get("connected") or ["SERIAL"]
    words = {
        "first": next(iter(devices)),
        "count": len(devices),
        "installed": error.details.get("installed", "PACKAGE"),
    }
    return _HINTS[error.code].format(**words) if error.code in _HINTS else error.hint


def _without_device(hint: str) -> str:
    if "--claw-device" in hint:
        return hint
    if not hint or "python -m pytest_clawperator.simulator" in hint:
        return f"{_PLUG_IN}, or {_SIMULATED}."
    return f"{hint} Or {_SIMULATED}."


def _option(call: re.Match[str]) -> str:
    """Say a call that is about another host in an option."""
    if call["name"] == "operator_package":
        return "--claw-operator-package PACKAGE"
    url = "URL" if call["url"] == "..." else call["url"].strip("'")
    if call["name"] is None:
        return f"--claw-device {url}"
    serial = "SERIAL" if call["value"] == "..." else call["value"].strip("'")
    return f"--claw-device {url}/{serial}"
