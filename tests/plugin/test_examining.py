"""``--claw-doctor``: the chosen devices are examined, and no test is run."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester) -> None:
    """Write a suite that fails if it is collected."""
    pytester.makepyfile(test_it="raise AssertionError('collected')")


def test_a_healthy_device_is_reported_and_no_test_is_run(run: Run, phone: AdbTransport) -> None:
    """A device that is named twice is examined once, and no workers are started."""
    result = run("--claw-doctor", "--claw-device", phone.serial, "-p", "xdist", "-n", "2")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "127.0.0.1:* (Google Pixel 9, API 36)",
            "*host.adb.server * answers.",
            "*device.discovery * Connected, and adb can use it.",
            "*readiness.handshake * The Operator answers.",
        ]
    )
    text = result.stdout.str()
    assert "collected" not in text
    assert "bringing up nodes" not in text
    assert text.count("readiness.handshake") == 1


def test_a_device_that_is_not_fit_fails_the_run(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """The hint names options of pytest; a test with that problem refers to the doctor."""
    phone.shell("sim fault operator_absent")

    result = run("--claw-doctor")
    pytester.makepyfile(test_it="def test_it(clawperator): pass")
    of_test = run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*readiness.apk.presence * The Operator is not installed.",
            "*OPERATOR_NOT_INSTALLED: *",
            "*--claw-operator-apk=path/to/operator.apk.",
        ]
    )
    of_test.stdout.fnmatch_lines(["*or find out what is wrong with `pytest --claw-doctor`.*"])


def test_nothing_is_changed(run: Run, phone: AdbTransport) -> None:
    """What could be fixed is only reported."""
    phone.shell("settings put global low_power 1")

    result = run("--claw-doctor")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*DEVICE_BATTERY_SAVER_ON*", "*settings put global low_power 0"])
    assert phone.shell("settings get global low_power").stdout == "1\n"


def test_without_a_choice_every_device_is_examined(
    run_plain: Run, simulator: Simulator, adb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a row, and the computer is shown once; ANDROID_SERIAL chooses one, as in a run."""
    every = run_plain("--claw-doctor", "--claw-adb", adb)
    monkeypatch.setenv("ANDROID_SERIAL", simulator.serials[1])
    chosen = run_plain("--claw-doctor", "--claw-adb", adb)

    assert every.ret == pytest.ExitCode.OK
    every.stdout.fnmatch_lines(["This computer", "Devices", "2 devices: *"])
    for serial in simulator.serials:
        every.stdout.fnmatch_lines([f"  ? {serial}  *Google Pixel*"])
    chosen.stdout.fnmatch_lines([f"{simulator.serials[1]} (Google *"])
    assert simulator.serials[0] not in chosen.stdout.str()


def test_devices_that_cannot_be_examined(run_plain: Run, adb: str) -> None:
    """An unconnected device fails; for one behind a URL, the doctor must run on its host."""
    missing = run_plain("--claw-doctor", "--claw-adb", adb, "--claw-device", "NOPE")
    remote = run_plain("--claw-doctor", "--claw-device", "http://127.0.0.1:1/PH1")

    assert (missing.ret, remote.ret) == (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.OK)
    missing.stdout.fnmatch_lines(["*device.discovery * Device NOPE is not connected."])
    remote.stdout.fnmatch_lines(["*Run `clawperator-py doctor` on the host of *"])
