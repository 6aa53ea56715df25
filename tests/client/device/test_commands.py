"""Names that reach a device's shell, and what is said when a command fails."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.device.commands import (
    installed_packages,
    lacks,
    package_name,
    permission_name,
    run,
    run_for_app,
    shell_error,
)
from pytest_clawperator.errors import ConfigurationError, ErrorCode, ShellError
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.transport import ScriptedTransport

STACK_TRACE = (
    "\nException occurred while executing 'grant':\n"
    "java.lang.SecurityException: Package a.b has not requested permission x.Y\n"
    "\tat com.android.Whatever(Whatever.java:1)\n"
)
HOSTILE = [
    "",
    "a",
    "a b.c",
    "a.b;reboot",
    "a.b\n",
    "$(id).b",
    "-r.b",
    "a..b",
    "a.1b",
    "a.b'",
    "é.b",
]


@pytest.mark.parametrize("name", ["com.example.shop", "a.b_1", "android", "A.B"])
def test_valid_package_names_are_accepted(name: str) -> None:
    """What Android takes for a package name is taken."""
    assert package_name(name) == name


@pytest.mark.parametrize("name", [*HOSTILE, "a." + "b" * 300, None, 5])
def test_invalid_package_names_are_refused(name: str) -> None:
    """Anything that is no package name never reaches a shell."""
    with pytest.raises(ConfigurationError, match="is not the name of an Android package"):
        package_name(name)


@pytest.mark.parametrize("name", ["CAMERA", "a.b;reboot", "-a.b", "a.b\n", ""])
def test_no_permission_names(name: str) -> None:
    """Anything that is no permission, short names included, is refused."""
    with pytest.raises(ConfigurationError, match="written in full"):
        permission_name(name)


@pytest.mark.parametrize(
    "result",
    [
        ShellResult("", "sh: wm: inaccessible or not found", 127),
        ShellResult("", "cmd: Can't find service: locale", 20),
        ShellResult("", "Unknown command: airplane-mode", 255),
        ShellResult("No shell command implementation.\n", "", 0),
    ],
)
def test_a_device_that_lacks_a_command(result: ShellResult) -> None:
    """Every way in which Android says that it has no such command is understood."""
    assert lacks(result)


@pytest.mark.parametrize(
    "result", [ShellResult("Failure [package not found]", "", 1), ShellResult("", "", 0)]
)
def test_a_failure_is_not_a_lack(result: ShellResult) -> None:
    """A command that failed, or said nothing, is there."""
    assert not lacks(result)


def test_the_reason_is_picked_out_of_a_stack_trace() -> None:
    """The message names the exception; the whole output is in the details."""
    transport = ScriptedTransport()
    result = ShellResult("", STACK_TRACE, 255)

    error = shell_error(transport, "pm grant a.b x.Y", result, hint="Do this.")

    assert error.message == (
        "`pm grant a.b x.Y` failed with exit code 255: "
        "java.lang.SecurityException: Package a.b has not requested permission x.Y"
    )
    assert error.details == {
        "command": "pm grant a.b x.Y",
        "exitCode": 255,
        "output": STACK_TRACE.strip(),
    }
    assert (error.serial, error.hint) == ("PH1", "Do this.")


@pytest.mark.parametrize(
    "answer",
    [
        ShellResult("", "", 1),
        ShellResult("Operation failed: java.lang.SecurityException: no", "", 0),
        ShellResult("Error: bad", "", 0),
    ],
)
def test_a_command_that_must_succeed(answer: ShellResult) -> None:
    """An exit code is believed when it is bad, and the output too: old devices always say 0."""
    transport = ScriptedTransport({"do it": answer})

    with pytest.raises(ShellError):
        run(transport, "do it", hint="")


def test_an_app_that_is_not_there() -> None:
    """A failure is explained by the app's absence, and the nearest name is offered."""
    transport = ScriptedTransport(
        {
            "pm clear com.example.shp": ShellResult("Failed\n", "", 1),
            "pm list packages": "package:com.example.shop\npackage:android\n",
        }
    )

    with pytest.raises(ShellError) as caught:
        run_for_app(transport, "com.example.shp", "pm clear com.example.shp", hint="")

    assert caught.value.code is ErrorCode.APP_NOT_FOUND
    assert "Did you mean 'com.example.shop'?" in str(caught.value)


@pytest.mark.parametrize("listed", ["package:a.b\n", ShellResult("", "", 127)])
def test_an_app_that_is_there_or_unknown(listed: str | ShellResult) -> None:
    """A failure on an app that is there, or may be, is told as it is."""
    transport = ScriptedTransport({"pm clear a.b": "Failed\n", "pm list packages": listed})

    with pytest.raises(ShellError, match=r"`pm clear a\.b` failed"):
        run_for_app(transport, "a.b", "pm clear a.b", hint="", success="Success")


def test_packages_are_whole_lines() -> None:
    """Only lines of the package manager's form are names."""
    listing = "WARNING: linker\r\npackage:a.b\r\n  package:a.b.dev\nnot package:x.y\n"
    transport = ScriptedTransport({"pm list packages 'a.b'": listing})

    assert installed_packages(transport, "a.b") == {"a.b", "a.b.dev"}


def test_a_device_that_is_still_starting() -> None:
    """Without a package manager nothing is known, and the hint says why that may be."""
    missing = ShellResult("", "cmd: Can't find service: package\n", 20)
    transport = ScriptedTransport({"pm list packages 'a.b'": missing})

    with pytest.raises(ShellError) as caught:
        installed_packages(transport, "a.b")

    assert caught.value.code is ErrorCode.DEVICE_COMMAND_FAILED
    assert "sys.boot_completed" in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        # Xiaomi, Android 10 and 13
        "java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS"
        " permission",
        "java.lang.SecurityException: Injecting input events requires the caller (or the source of"
        " the instrumentation, if any) to have the INJECT_EVENTS permission.",
        # Xiaomi, Android 9, and OnePlus, Android 13
        "Security exception: grantRuntimePermission: Neither user 2000 nor current process has"
        " android.permission.GRANT_RUNTIME_PERMISSIONS.",
        "java.lang.SecurityException: grantRuntimePermission: Neither user 2000 nor current"
        " process has android.permission.GRANT_RUNTIME_PERMISSIONS.",
        # realme, Android 11
        "Operation not allowed: java.lang.SecurityException: Permission denial: writing to"
        " settings requires:android.permission.WRITE_SECURE_SETTINGS",
    ],
)
def test_a_phone_that_guards_what_adb_does_is_told_as_such(said: str) -> None:
    """Whatever the command was about, the hint names the developer options of the makers."""
    result = ShellResult("", said, 255)

    error = shell_error(ScriptedTransport({}), "some command", result, hint="Do this.")

    assert "USB debugging (Security settings)" in str(error.hint)
    assert "Disable permission monitoring" in str(error.hint)
