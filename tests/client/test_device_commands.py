"""Names that reach a device's shell, and the errors of commands that fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.client.device import Device
from pytest_clawperator.client.device_commands import (
    installed_packages,
    key_code,
    lacks,
    package_name,
    permission_name,
    run,
    run_for_app,
    shell_error,
    toast_texts,
)
from pytest_clawperator.errors import ConfigurationError, ErrorCode, ShellError
from pytest_clawperator.simulator.android.input import KEY_CODES
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.device import REFUSED, scripted
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
    """Anything that is not a package name never reaches a shell."""
    with pytest.raises(ConfigurationError, match="is not the name of an Android package"):
        package_name(name)


@pytest.mark.parametrize("name", ["CAMERA", "a.b;reboot", "-a.b", "a.b\n", ""])
def test_invalid_permission_names_are_refused(name: str) -> None:
    """Anything that is not a permission, short names included, is refused."""
    with pytest.raises(ConfigurationError, match="written in full"):
        permission_name(name)


@pytest.mark.parametrize(
    ("result", "is_missing"),
    [
        (ShellResult("", "sh: wm: inaccessible or not found", 127), True),
        (ShellResult("", "cmd: Can't find service: locale", 20), True),
        (ShellResult("", "Unknown command: airplane-mode", 255), True),
        (ShellResult("No shell command implementation.\n", "", 0), True),
        (ShellResult("Failure [package not found]", "", 1), False),
        (ShellResult("", "", 0), False),
    ],
)
def test_a_missing_command_is_recognised(result: ShellResult, is_missing: bool) -> None:
    """In all words that Android has for it; a command that failed is there."""
    assert lacks(result) is is_missing


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
    """A bad exit code counts, and so does the output: old devices always exit with 0."""
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
    """A failure on an app that is installed, or may be, is reported unchanged."""
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
    "printed",
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
def test_a_phone_that_guards_what_adb_does_is_recognised(printed: str) -> None:
    """Whatever the command was about, the hint names the developer options of the makers."""
    result = ShellResult("", printed, 255)

    error = shell_error(ScriptedTransport({}), "some command", result, hint="Do this.")

    assert "USB debugging (Security settings)" in str(error.hint)
    assert "Disable permission monitoring" in str(error.hint)


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("enter", "KEYCODE_ENTER"),
        ("KEYCODE_ENTER", "KEYCODE_ENTER"),
        (" volume up ", "KEYCODE_VOLUME_UP"),
        ("app-switch", "KEYCODE_APP_SWITCH"),
        ("5", "KEYCODE_5"),
        (66, "66"),
        (0, "0"),
    ],
)
def test_the_ways_to_write_a_key(key: str | int, sent: str) -> None:
    """Names are taken with and without prefix, in any case; numbers as they are."""
    assert key_code(key) == sent


@pytest.mark.parametrize(
    "key", ["", "entr", "volum_up", "KEYCODE_", "enter; reboot", -1, 99_999, True]
)
def test_an_unknown_key_is_refused(key: str | int) -> None:
    """A device would ignore it; a similar name is suggested."""
    with pytest.raises(ConfigurationError, match="there is no key") as caught:
        key_code(key)

    assert ("Did you mean 'volume_up'?" in str(caught.value)) == (key == "volum_up")


def test_every_key_that_the_simulated_phone_knows() -> None:
    """The two tables of names, made apart, agree."""
    for name in KEY_CODES:
        assert key_code(name) == f"KEYCODE_{name}"


@pytest.mark.parametrize("display", [None, 2])
@pytest.mark.parametrize(
    ("use", "line"),
    [
        (lambda d: d.swipe((1, 2), (3.4, 4.6)), "input swipe 1 2 3 5 300"),
        (lambda d: d.swipe((1, 2), (3, 4), duration=2), "input swipe 1 2 3 4 2000"),
        (lambda d: d.drag((1, 2), (3, 4)), "input draganddrop 1 2 3 4 1000"),
        (lambda d: d.drag((1, 2), (3, 4), duration=0.5), "input draganddrop 1 2 3 4 500"),
        (lambda d: d.double_tap((1, 2)), "input tap 1 2 | { sleep 0.1; input tap 1 2; }"),
        (lambda d: d.key_event("enter"), "input keyevent KEYCODE_ENTER"),
    ],
)
def test_a_gesture_is_one_line(
    use: Callable[[Device], None], line: str, display: int | None
) -> None:
    """Nothing comes between its parts; it goes to the display that pictures are taken of."""
    line = line.replace("input ", f"input -d {display} ") if display else line
    transport = ScriptedTransport({line: ""})
    transport.display = display

    use(Device(transport, scripted().info))

    assert transport.calls == [line]


@pytest.mark.parametrize(
    "use",
    [
        lambda d: d.drag((-1, 0), (1, 1)),
        lambda d: d.drag((0, 0), (1, 1), duration=-1),
        lambda d: d.double_tap((1, "2; reboot")),
        lambda d: d.double_tap("ab"),
        lambda d: d.double_tap((1, float("inf"))),
    ],
)
def test_an_invalid_point_never_reaches_the_shell(use: Callable[[Any], None]) -> None:
    """Points and times are checked before anything is sent."""
    transport = ScriptedTransport()
    device = Device(transport, scripted().info)

    with pytest.raises(ConfigurationError, match=r"cannot (drag|tap twice)"):
        use(device)

    assert transport.calls == []


def test_a_refused_gesture_is_an_error() -> None:
    """The error of a phone that forbids injected touches names the switch that allows them."""
    line = "input draganddrop 1 2 3 4 1000"

    with pytest.raises(ShellError, match="draganddrop") as caught:
        scripted({line: REFUSED}).drag((1, 2), (3, 4))

    assert "USB debugging (Security settings)" in str(caught.value)


DUMP = """Current Notification Manager state:
  Toast Queue:
    TextToastRecord{e96677e 8123:com.example.shop/u0a214 isSystemToast=false token=android.os.BinderProxy@e96677e text=Saved duration=0}
    CustomToastRecord{1f 8123:com.example.shop/u0a214 isSystemToast=false token=x callback=y duration=1}
    TextToastRecord{1b2 8123:com.example.shop/u0a214 isSystemToast=false token=x text=Two
lines duration=3 days duration=1}
  
  Notification List:
Error: this is the title of another app's notification
"""  # noqa: E501, W293


def test_toasts_are_read_in_their_order() -> None:
    """Toasts keep line breaks and odd words; custom toasts have no text."""
    device = scripted({"dumpsys notification": DUMP}, api_level=34)

    assert device.toasts() == ["Saved", "Two\nlines duration=3 days"]
    assert toast_texts("Current Notification Manager state:\n") == []


@pytest.mark.parametrize(
    ("answer", "api_level", "message"),
    [
        (DUMP, 29, "API level 29 does not report"),
        (ShellResult("", "Permission Denial\n", 255), 34, "dumpsys notification"),
    ],
)
def test_unknown_toasts_are_an_error(answer: Any, api_level: int, message: str) -> None:
    """Where the system does not know the texts, an empty list would be wrong."""
    with pytest.raises(ShellError, match=message) as caught:
        scripted({"dumpsys notification": answer}, api_level=api_level).toasts()

    assert caught.value.code is ErrorCode.DEVICE_COMMAND_FAILED
