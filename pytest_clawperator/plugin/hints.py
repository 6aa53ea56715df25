"""The hints of errors in the words of the command line instead of those of a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

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
}


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
    if error.code == ErrorCode.NO_DEVICES:
        return _without_device(error)
    devices = error.details.get("devices") or error.details.get("connected") or ["SERIAL"]
    words = {
        "first": next(iter(devices)),
        "count": len(devices),
        "installed": error.details.get("installed", "PACKAGE"),
    }
    hint = _HINTS.get(error.code)
    return hint.format(**words) if hint else error.hint


def _without_device(error: ClawperatorError) -> str | None:
    if "--claw-device" in (error.hint or ""):
        return error.hint
    if not error.details.get("devices"):
        return f"{_PLUG_IN}, or {_SIMULATED}."
    return f"{error.hint} Or {_SIMULATED}."
