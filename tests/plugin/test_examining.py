"""``--claw-doctor``: the chosen devices are examined, and no test is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester) -> Path:
    """Write a suite that would fail if it were collected."""
    return pytester.makepyfile("raise AssertionError('collected')")


def test_a_healthy_device_is_reported_and_no_test_is_run(run: Run) -> None:
    """All checks of the device are shown, and the run ends well."""
    result = run("--claw-doctor")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "127.0.0.1:* (Google Pixel 9, API 36)",
            "*host.adb.server * answers.",
            "*device.discovery * Connected, and adb can use it.",
            "*readiness.handshake * The Operator answers.",
        ]
    )
    assert "collected" not in result.stdout.str()


def test_a_device_that_is_not_fit_fails_the_run(run: Run, phone: AdbTransport) -> None:
    """The exit code tells, and the hint names options of pytest."""
    phone.shell("sim fault operator_absent")

    result = run("--claw-doctor")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*readiness.apk.presence * The Operator is not installed.",
            "*OPERATOR_NOT_INSTALLED: *",
            "*--claw-operator-apk=path/to/operator.apk.",
        ]
    )


def test_nothing_is_changed(run: Run, phone: AdbTransport) -> None:
    """What could be mended is only told."""
    phone.shell("settings put global low_power 1")

    result = run("--claw-doctor")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*DEVICE_BATTERY_SAVER_ON*", "*settings put global low_power 0"])
    assert phone.shell("settings get global low_power").stdout == "1\n"


def test_without_a_choice_every_device_is_examined(
    run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """Each device is a row, and the computer is shown once."""
    result = run_plain("--claw-doctor", "--claw-adb", adb)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["This computer", "Devices", "2 devices: *"])
    for serial in simulator.serials:
        result.stdout.fnmatch_lines([f"  ? {serial}  *Google Pixel*"])


def test_a_device_that_is_named_twice_is_examined_once(run: Run, phone: AdbTransport) -> None:
    """It is one device, however often it is chosen."""
    result = run("--claw-doctor", "--claw-device", phone.serial)

    assert result.ret == pytest.ExitCode.OK
    assert result.stdout.str().count("readiness.handshake") == 1


def test_the_environment_can_choose_the_device(
    run_plain: Run, simulator: Simulator, adb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the option it is the device of ANDROID_SERIAL, as in a run."""
    monkeypatch.setenv("ANDROID_SERIAL", simulator.serials[1])

    result = run_plain("--claw-doctor", "--claw-adb", adb)

    result.stdout.fnmatch_lines([f"{simulator.serials[1]} (Google *"])
    assert simulator.serials[0] not in result.stdout.str()


def test_a_device_that_is_not_there_fails(run_plain: Run, adb: str) -> None:
    """It is a finding, with what is connected."""
    result = run_plain("--claw-doctor", "--claw-adb", adb, "--claw-device", "NOPE")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*device.discovery * Device NOPE is not connected."])


def test_a_url_is_examined_elsewhere(run_plain: Run) -> None:
    """A device behind a url is told to be examined on its own computer."""
    result = run_plain("--claw-doctor", "--claw-device", "http://127.0.0.1:1/PH1")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*Run `clawperator-py doctor` on the host of *"])


def test_an_operator_problem_of_a_test_points_to_the_doctor(
    run: Run, pytester: pytest.Pytester, phone: AdbTransport
) -> None:
    """The hint of the error names the option."""
    phone.shell("sim fault operator_absent")
    for path in pytester.path.glob("*.py"):
        path.write_text("def test_it(clawperator): pass\n", encoding="utf-8")

    result = run()

    result.stdout.fnmatch_lines(["*or find out what is wrong with `pytest --claw-doctor`.*"])
