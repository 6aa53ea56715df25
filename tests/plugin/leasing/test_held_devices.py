"""``-n auto``: as many workers as there are devices that can be had now."""

from __future__ import annotations

import os

import pytest

from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import FakeAdb
from tests.plugin.conftest import Run

# Each test leaves its worker and device.
LEAVES_LINES = """
import os
from pathlib import Path

import pytest

@pytest.mark.parametrize("number", range(6))
def test_it(clawperator, number):
    with Path(__file__).with_name("lines").open("a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + " " + clawperator.serial + "\\n")
"""


def pairs(pytester: pytest.Pytester) -> set[tuple[str, ...]]:
    """Read which worker had which device."""
    lines = (pytester.path / "lines").read_text(encoding="utf-8").splitlines()
    return {tuple(line.split()) for line in lines}


def test_a_suite_with_devices_uses_all_that_are_connected(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """A suite that uses devices uses all that are connected, without another option."""
    pytester.makepyfile(LEAVES_LINES)

    result = run_workers("-n", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["created: 2/2 workers", "2 workers [[]6 items[]]"])
    assert sorted(serial for _, serial in pairs(pytester)) == sorted(simulator.serials)


def test_one_is_held(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """A device that somebody else has is left out, and it is said who has it."""
    pytester.makepyfile(LEAVES_LINES)
    first, second = simulator.serials
    hold = open_leases(run_id="nightly").try_take(f"127.0.0.1/{first}")
    assert hold is not None

    with hold:
        result = run_workers("-n", "auto", "--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=6)
    assert pairs(pytester) == {("gw0", second)}
    result.stdout.fnmatch_lines(
        [f"*{first} is held by * (process {os.getpid()} on *, run nightly) since *, and left out"]
    )


def test_all_are_held(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """Where somebody has all devices, the run ends with who that is, before any test.

    Where nobody asked for devices but tests, only those that need one say so.
    """
    pytester.makepyfile(LEAVES_LINES)
    store = open_leases(run_id="nightly")
    holds = [store.try_take(f"127.0.0.1/{serial}") for serial in simulator.serials]

    result = run_workers("-n", "auto", "--claw-device", "auto", "--claw-adb", adb)
    pytester.makepyfile(test_plain="def test_plain(): pass\n")
    unasked = run_workers("-n", "auto", "--maxprocesses", "1", "--claw-adb", adb)
    for hold in holds:
        assert hold is not None
        hold.release()

    assert unasked.parseoutcomes() == {"passed": 1, "errors": 1, "same": 5}
    unasked.stdout.fnmatch_lines(
        ["E *DEVICE_LEASED: 1 device is wanted, and 0 of 2 can be had: *", "*hint: Wait for it *"]
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*DEVICE_LEASED: 1 device is wanted, and 0 of 2 can be had: 127.0.0.1:* is held by *;"
            " 127.0.0.1:* is held by * (process *, run nightly) since *",
            "*hint: Wait for it with --claw-lease-timeout SECONDS, *",
        ]
    )


def test_limits_and_requirements_make_fewer_workers(
    pytester: pytest.Pytester, run_workers: Run, adb: str
) -> None:
    """``--maxprocesses`` and ``--claw-require`` make fewer; what is not used stays free."""
    pytester.makepyfile(
        f"""
        import pytest
        from pytest_clawperator.devices.lease import open_leases

        @pytest.mark.parametrize("number", range(2))
        def test_it(clawperator, number, testrun_uid):
            pass

        def test_others_can_have_it(clawperator):
            from pytest_clawperator.transport.server import locate_server
            from pytest_clawperator.devices.inventory import list_devices
            serials = [one.serial for one in list_devices(locate_server({adb!r}))]
            serials.remove(clawperator.serial)
            with open_leases(run_id="other").try_take("127.0.0.1/" + serials[0]):
                pass
        """
    )
    devices = ("--claw-device", "auto", "--claw-adb", adb)

    at_most = run_workers("-n", "auto", "--maxprocesses", "1", *devices)
    required = run_workers("-n", "auto", "--claw-require", "model=Pixel 9", *devices)

    for result in (at_most, required):
        result.assert_outcomes(passed=3)
        result.stdout.fnmatch_lines(["created: 1/1 worker", "1 worker [[]3 items[]]"])


def test_two_simulated_phones_are_two_workers(pytester: pytest.Pytester, run_workers: Run) -> None:
    """``sim:2`` are two workers, and a spare phone is none."""
    pytester.makepyfile(LEAVES_LINES)

    result = run_workers("-n", "auto", "--claw-device", "sim:3", "--claw-spare-devices", "1")

    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["created: 2/2 workers"])
    assert len({serial for _, serial in pairs(pytester)}) == 2


def test_a_suite_without_devices(
    pytester: pytest.Pytester, run_workers: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A suite that never mentions a device is left to xdist, and no adb server is asked."""
    pytester.makepyfile("def test_it(tmp_path): pass")
    pytester.makeconftest("def pytest_xdist_auto_num_workers(config): return 3")
    with FakeAdb({}) as nobody:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(nobody.server.port))

        result = run_workers("-n", "auto")

        asked = list(nobody.requests)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["created: 3/3 workers"])
    assert asked == []
    assert "clawperator: " not in result.stdout.str()


def test_told_by_the_environment(
    pytester: pytest.Pytester,
    run_workers: Run,
    monkeypatch: pytest.MonkeyPatch,
    adb: str,
) -> None:
    """The variable of xdist wins, and is held against the devices that there are."""
    pytester.makepyfile(LEAVES_LINES)
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "3")

    result = run_workers("-n", "auto", "--claw-device", "auto", "--claw-adb", adb)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*NO_DEVICES: 3 workers need 3 devices, one each, but there are 2: *"]
    )


def test_an_ini_file(
    pytester: pytest.Pytester, run_workers: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Devices of an ini file are for the tests that ask for one: others need none."""
    pytester.makepyfile("def test_it(tmp_path): pass")
    pytester.makeconftest("def pytest_xdist_auto_num_workers(config): return 1")
    pytester.makeini("[pytest]\nclaw_device = auto\naddopts = -n auto")
    with FakeAdb({}) as nobody:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(nobody.server.port))

        result = run_workers()

        asked = list(nobody.requests)

    result.assert_outcomes(passed=1)
    assert asked == []


@pytest.mark.parametrize("listing", ["--collect-only", "--fixtures", "--fixtures-per-test"])
def test_listing_tests_looks_for_no_devices(
    pytester: pytest.Pytester, run_workers: Run, listing: str
) -> None:
    """Who only lists things looks for no devices, and sees the tests as they will be."""
    pytester.makepyfile(test_it="def test_it(clawperator): pass")
    pytester.makeconftest("def pytest_xdist_auto_num_workers(config): return 1")
    options = ("-q", "--claw-matrix", "api=33,35", "--claw-adb", "127.0.0.1:1")

    result = run_workers("-n", "auto", listing, *options)

    assert result.ret == pytest.ExitCode.OK
    if listing == "--collect-only":
        result.stdout.fnmatch_lines(
            ["test_it.py::test_it[[]api33]", "test_it.py::test_it[[]api35]"]
        )


def test_waiting_for_one(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """Workers whom nobody told which devices wait for one, and say who has them all."""
    pytester.makepyfile(test_it="def test_it(clawperator): pass\ndef test_plain(): pass")
    store = open_leases(run_id="nightly")
    holds = [store.try_take(f"127.0.0.1/{serial}") for serial in simulator.serials]

    at_once = run_workers("-n", "1", "--claw-adb", adb)
    waited = run_workers("-n", "1", "--claw-adb", adb, "--claw-lease-timeout", "0.2")
    for hold in holds:
        assert hold is not None
        hold.release()

    said = "*0 of 2 can be had: 127.0.0.1:* is held by * (process *, run nightly) since *"
    for result, when in ((at_once, "wanted"), (waited, "wanted after 0.2 s of waiting")):
        result.assert_outcomes(passed=1, errors=1)
        result.stdout.fnmatch_lines([f"E *DEVICE_LEASED: 1 device is {when}, and {said}"])
    waited.stdout.fnmatch_lines(["clawperator: waiting for 1 of 2 devices (*, held by *; 0 s left"])
