"""Whether a device and its Operator can work."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_clawperator.devices.health import Readiness, check_ready, read_readiness
from pytest_clawperator.errors import (
    DeviceUnavailableError,
    ErrorCode,
    OperatorNotReadyError,
)
from pytest_clawperator.execution.processes import PROCESSES_COMMAND, Processes
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.transport import Answer, ScriptedTransport

RELEASE = "com.clawperator.operator"
SERVICE = f"{RELEASE}/clawperator.operator.accessibilityservice.OperatorAccessibilityService"
DUMP = "  versionName=0.5.3\n  User 0: ceDataInode=1 installed=true stopped=false\n"
READY: dict[Any, Answer] = {
    "getprop sys.boot_completed": "1\n",
    f"pm list packages {RELEASE}": f"package:{RELEASE}\n",
    "settings get secure enabled_accessibility_services": f"a.b/.C:{SERVICE}\n",
    "settings get secure accessibility_enabled": "1\n",
    f"dumpsys package {RELEASE}": DUMP,
    "am get-current-user": "0\n",
}
BOOT, PACKAGES, SERVICES, SWITCH, DETAILS, CURRENT = READY


def test_a_ready_device_is_read_in_one_round_trip() -> None:
    """One shell command answers everything."""
    transport = ScriptedTransport(READY)

    found = check_ready(transport, RELEASE)

    assert found == Readiness(
        booted=True,
        installed=frozenset({RELEASE}),
        service_on=True,
        stopped=False,
        version="0.5.3",
        user=0,
    )
    assert transport.round_trips == 1


def test_the_processes_are_read_in_the_same_round_trip() -> None:
    """Connecting learns which process is the Operator's, and is not slower for it."""
    dump = f"  Package [{RELEASE}] (1a):\n    appId=10145\n{DUMP}"
    listed = "USER PID\nsystem 700\nu0_a145 4242\n"
    transport = ScriptedTransport({**READY, DETAILS: dump, PROCESSES_COMMAND: listed})

    found = check_ready(transport, RELEASE)

    assert found.processes == Processes(10145, frozenset({4242}), frozenset({700}))
    assert transport.round_trips == 1


@pytest.mark.parametrize(
    "unknown",
    [
        ShellResult("", "", 127),
        ShellResult("", "cmd: Can't find service: x\n", 20),
        ShellResult("", "java.lang.SecurityException: no\n", 255),
    ],
)
@pytest.mark.parametrize("question", READY)
def test_what_is_unknown_is_no_error(question: Any, unknown: ShellResult) -> None:
    """A command that the device does not answer is no reason to fail."""
    transport = ScriptedTransport({**READY, question: unknown})

    check_ready(transport, RELEASE)


def test_a_device_that_tells_nothing_is_no_error() -> None:
    """On a device without any of the commands nothing is known, and nothing is wrong."""
    assert check_ready(ScriptedTransport(), RELEASE) == Readiness()


@pytest.mark.parametrize(
    ("question", "answer", "code", "says"),
    [
        (PACKAGES, "", ErrorCode.OPERATOR_NOT_INSTALLED, "operator_apk="),
        (PACKAGES, f"package:{RELEASE}.dev\n", ErrorCode.OPERATOR_VARIANT_MISMATCH, ".dev"),
        (SERVICES, "null\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "grant=True"),
        (SERVICES, "\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "by hand"),
        (SERVICES, f"x{SERVICE}\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "switched off"),
        (SWITCH, "0\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "grant=True"),
        (SWITCH, "null\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "switched off"),
        (
            DETAILS,
            DUMP.replace("stopped=false", "stopped=true"),
            ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING,
            "was force-stopped",
        ),
    ],
)
def test_what_keeps_the_operator_from_working_is_raised(
    question: Any, answer: str, code: ErrorCode, says: str
) -> None:
    """Each reason has its code, and a hint that says what to do."""
    transport = ScriptedTransport({**READY, question: answer})

    with pytest.raises(OperatorNotReadyError) as caught:
        check_ready(transport, RELEASE)

    assert caught.value.code is code
    assert says in str(caught.value)
    assert caught.value.serial == "PH1"


def test_a_starting_device_is_not_blamed_on_its_operator() -> None:
    """A device that has not finished starting is unavailable, whatever its Operator is."""
    no_service = ShellResult("cmd: Can't find service: package\n", "", 20)
    saying = ScriptedTransport({**READY, BOOT: "0\n", PACKAGES: ""})
    showing = ScriptedTransport({**READY, BOOT: "\n", PACKAGES: no_service})
    warning = ScriptedTransport({**READY, BOOT: "WARNING: linker: x\n\n", PACKAGES: no_service})

    for transport in (saying, showing, warning):
        with pytest.raises(DeviceUnavailableError, match="has not finished starting"):
            check_ready(transport, RELEASE)


#: A phone with a second and a third user, as ``dumpsys package`` tells of an app.
THREE_USERS = (
    f"  Package [{RELEASE}] (1a2b):\n    appId=10145\n"
    "    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=true\n"
    "    User 10: ceDataInode=0 installed=true hidden=false suspended=false stopped=false\n"
    "    User 11: ceDataInode=0 installed=false hidden=false suspended=false stopped=true\n"
)


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ("0\n", ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING),
        ("10\n", None),
        ("11\n", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("12\n", None),  # the device does not tell
        (ShellResult("", "Error: unknown command 'get-current-user'\n", 255), None),
    ],
)
def test_the_operator_of_the_current_user_counts(
    user: str | ShellResult, code: ErrorCode | None
) -> None:
    """What is so for users whose screen is not shown neither helps nor harms."""
    transport = ScriptedTransport({**READY, DETAILS: THREE_USERS, CURRENT: user})

    found = None
    try:
        check_ready(transport, RELEASE)
    except OperatorNotReadyError as error:
        found = error

    assert (found.code if found else None) == code
    assert ("for user 11" in str(found)) == (user == "11\n")


def test_warnings_before_an_answer_are_skipped() -> None:
    """Only the last line of the output is the answer."""
    noise = "WARNING: linker: libfoo.so has text relocations: x:y\n"
    noisy = {
        key: noise + value if isinstance(value, str) else value for key, value in READY.items()
    }

    found = check_ready(ScriptedTransport(noisy), RELEASE)

    assert (found.booted, found.service_on) == (True, True)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("operator_absent", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("operator_variant", ErrorCode.OPERATOR_VARIANT_MISMATCH),
    ],
)
def test_faults_of_a_phone_have_their_codes(
    phone: AdbTransport, fault: str, code: ErrorCode
) -> None:
    """Each fault of the simulated phone has its own code."""
    ready = check_ready(phone, RELEASE)

    phone.shell(f"sim fault {fault}")
    with pytest.raises(OperatorNotReadyError) as caught:
        check_ready(phone, RELEASE)

    assert ready.service_on is True
    assert caught.value.code is code


def test_a_booting_phone_is_known_for_one(phone: AdbTransport) -> None:
    """While its services are not up, nothing else is known."""
    phone.shell("sim fault booting")

    found = read_readiness(phone, RELEASE)

    assert found == Readiness(booted=False)


def test_a_name_that_is_no_package_is_refused() -> None:
    """It never reaches the shell."""
    transport = ScriptedTransport()

    with pytest.raises(Exception, match=re.escape("is not the name of an Android package")):
        check_ready(transport, "a.b; reboot")

    assert transport.calls == []
