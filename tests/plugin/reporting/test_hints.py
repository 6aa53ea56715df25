"""What to do next, in the words of the command line."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import (
    AmbiguousDeviceError,
    ClawperatorError,
    ErrorCode,
    NoDeviceError,
)
from pytest_clawperator.plugin.reporting.hints import hint_of
from tests.plugin.conftest import Run

SCRIPT = "Do it: connect(grant=True)."


def test_options_for_calls() -> None:
    """A hint for scripts names an option instead, with the values at hand."""
    error = AmbiguousDeviceError(
        "two", hint="Choose one: connect(serial='A').", details={"devices": ["A", "B"]}
    )

    hint = hint_of(error)

    assert hint is not None
    assert hint.startswith("Choose one: --claw-device A; or any: --claw-device auto; or all, ")
    assert "-n 2" in hint


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.OPERATOR_CRASHED,
        ErrorCode.SERVICE_UNAVAILABLE,
        ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING,
        ErrorCode.OPERATOR_NOT_INSTALLED,
        ErrorCode.OPERATOR_VARIANT_MISMATCH,
        ErrorCode.OPERATOR_VERIFY_FAILED,
        ErrorCode.DEVICE_NOT_FOUND,
        ErrorCode.DEVICE_SHELL_UNAVAILABLE,
        ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED,
    ],
)
def test_no_script_in_a_test(code: ErrorCode) -> None:
    """Every code whose hint names a call has words of its own for pytest."""
    hint = hint_of(ClawperatorError("it failed", code=code, hint=SCRIPT))

    assert hint is not None
    assert "connect(" not in hint
    assert hint != SCRIPT


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        (
            "Choose one: connect(url='http://lab:3000', serial='PH1').",
            "Choose one: --claw-device http://lab:3000/PH1.",
        ),
        ("with connect(url=..., serial=...).", "with --claw-device URL/SERIAL."),
        ("as in connect(url='http://lab:3000').", "as in --claw-device http://lab:3000."),
        ("with connect(url=..., operator_package=...).", "with --claw-operator-package PACKAGE."),
    ],
)
def test_a_call_about_another_host_becomes_an_option(hint: str, told: str) -> None:
    """What is said of another host stays, and the call becomes an option."""
    error = AmbiguousDeviceError("several", hint=hint, details={"devices": ["PH1"]})

    assert hint_of(error) == told


def test_other_hints_stay() -> None:
    """A hint that is no less true in a test is left alone, and so is none."""
    kept = ClawperatorError("gone", code=ErrorCode.DEVICE_NOT_FOUND, hint="Look at its cable.")
    none = ClawperatorError("gone", code=ErrorCode.OPERATOR_CRASHED)

    assert hint_of(kept) == "Look at its cable."
    assert hint_of(none) is None


def test_no_device_of_another_host() -> None:
    """Where another host has no device, that is where to connect one."""
    error = NoDeviceError("none", hint="Connect a device to that host.")

    hint = hint_of(error)

    assert hint == "Connect a device to that host. Or use simulated phones: --claw-device sim."


def test_a_crash_in_a_test(pytester: pytest.Pytester, run: Run) -> None:
    """The error of a test's own line says what to do in pytest, too."""
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    )

    result = run("--claw-screenshot=off")

    result.stdout.fnmatch_lines(
        ["*OPERATOR_CRASHED: *", "*hint: Before the next test its service*"]
    )
    assert "connect(" not in result.stdout.str()
