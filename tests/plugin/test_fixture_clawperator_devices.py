"""The fixture ``clawperator_devices``: several devices for one test, taken together."""

from __future__ import annotations

import pytest

from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

ONE_SPARE = ("--claw-spare-devices", "1", "--claw-device", "auto")


def test_two_phones(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """Two phones are two clients, both checked, and both put back and given back after the test."""
    pytester.makepyfile(
        """
        from pytest_clawperator import expect

        def test_both(clawperator, clawperator_devices):
            alice, bob = clawperator_devices(2)
            assert alice is clawperator and alice.serial != bob.serial
            alice.open_app("com.example.shop")
            bob.open_app("com.android.settings")
            expect(alice).to_be_in_app("com.example.shop")
            expect(bob).to_be_in_app("com.android.settings")
            bob.device.orientation = "landscape"

        def test_fails(clawperator_devices):
            alice, bob = clawperator_devices(2)
            assert bob.device.orientation != "landscape"
            bob.home()
            assert alice is bob

        def test_again(clawperator_devices):
            assert len(clawperator_devices(2)) == 2
        """
    )

    result = run_plain(*ONE_SPARE, "--claw-adb", adb)

    result.assert_outcomes(passed=2, failed=1)
    kept = [path.name for path in pytester.path.glob("claw-results/*/*/*screenshot.png")]
    assert len(kept) == 2  # of each phone one
    for serial in simulator.serials:
        result.stdout.fnmatch_lines([f"clawperator: {serial} (Google Pixel *"])
        with open_leases(run_id="after").try_take(f"127.0.0.1/{serial}") as hold:  # type: ignore[union-attr]
            assert hold.key


def test_not_given(pytester: pytest.Pytester, run_plain: Run, adb: str) -> None:
    """Each way to ask in vain says what was wrong, and the next test is none the worse for it."""
    pytester.makepyfile(
        """
        import pytest

        def test_many(clawperator_devices): clawperator_devices(4)

        def test_twice(clawperator_devices):
            clawperator_devices(2)
            clawperator_devices(2)

        @pytest.mark.parametrize("count", [0, "2", True, None])
        def test_nonsense(clawperator_devices, count): clawperator_devices(count)

        def test_one(clawperator, clawperator_devices):
            assert clawperator_devices(1) == [clawperator]

        def test_two(clawperator_devices): clawperator_devices(2)
        """
    )

    result = run_plain(*ONE_SPARE, "--claw-adb", adb)

    result.assert_outcomes(passed=2, failed=6)
    result.stdout.fnmatch_lines(
        [
            "E *4 devices are wanted by one test: its own and 3 more, and this run keeps 1 spare",
            "E *hint: Keep more of the devices from the workers: --claw-spare-devices 3.",
            "E *this test was given other devices before, and has them still",
            "E *hint: Ask once, for all the devices that the test needs.",
            "E *clawperator_devices(0) is no number of devices",
            "E *hint: Allowed is a number from 1 on: clawperator_devices(2).",
            "E *clawperator_devices('2') is no number of devices",
            "E *clawperator_devices(True) is no number of devices",
            "E *clawperator_devices(None) is no number of devices",
        ]
    )


def test_no_spares(pytester: pytest.Pytester, run: Run) -> None:
    """Without spare devices it is said how to have some."""
    pytester.makepyfile("def test_it(clawperator_devices): clawperator_devices(2)")

    result = run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *2 devices are wanted by one test: its own and 1 more, and this run keeps no spare"
            " devices",
            "E *hint: Keep more of the devices from the workers: --claw-spare-devices 1.",
        ]
    )


def test_workers(pytester: pytest.Pytester, run_workers: Run) -> None:
    """Workers take turns with the spare device, whatever becomes of their tests."""
    pytester.makepyfile(
        """
        import os
        from pathlib import Path

        import pytest

        LINES = Path(__file__).with_name("lines")

        def leave(*words):
            with LINES.open("a") as file:
                file.write(" ".join(words) + "\\n")

        @pytest.mark.parametrize("number", range(6))
        def test_pair(clawperator_devices, number):
            alice, bob = clawperator_devices(2)
            leave("begin", alice.serial, bob.serial)
            bob.home()
            leave("end", alice.serial, bob.serial)
            assert number % 2, "every other fails"

        def test_crash(clawperator_devices):
            clawperator_devices(2)
            os._exit(1)

        def test_many(clawperator_devices): clawperator_devices(3)

        def test_twice(clawperator_devices):
            clawperator_devices(2)
            clawperator_devices(2)

        def test_alone(clawperator): pass
        """
    )

    result = run_workers(
        *("-n", "2", "--claw-device", "sim:3", "--claw-spare-devices", "1"),
        *("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off"),
    )

    result.assert_outcomes(passed=4, failed=6)
    lines = [
        line.split() for line in (pytester.path / "lines").read_text(encoding="utf-8").splitlines()
    ]
    assert [line[0] for line in lines] == ["begin", "end"] * 6
    assert len({line[2] for line in lines}) == 1
    assert lines[0][2] not in {line[1] for line in lines}
    result.stdout.fnmatch_lines_random(
        [
            "E *3 devices are wanted by one test: its own and 2 more, and this run keeps 1 spare",
            "E *this test was given other devices before, and has them still",
        ]
    )


def test_a_spare_that_breaks(pytester: pytest.Pytester, run_workers: Run) -> None:
    """A spare phone that does not work is put aside, and the worker's own is not."""
    pytester.makeconftest(
        """
        from pytest_clawperator import SimulatorScenario
        from pytest_clawperator.devices import health

        def pytest_clawperator_simulator_scenario():
            return SimulatorScenario(seed=6, time_scale=0.05)

        def pytest_configure():
            health.await_return.__kwdefaults__["timeout"] = 0.1
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import ClawperatorError

        def test_breaks(clawperator_devices):
            _, bob = clawperator_devices(2)
            bob.device.shell("sim fault offline")
            with pytest.raises(ClawperatorError):
                while True:
                    bob.home()

        def test_next(clawperator_devices): clawperator_devices(2)

        def test_later(clawperator_devices): clawperator_devices(2)

        def test_alone(clawperator): pass
        """
    )

    result = run_workers("-n", "1", "--claw-device", "sim", "--claw-spare-devices", "1", "-rE")

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*= devices =*",
            "[[]127.0.0.1:*[]] the spare device is put aside",
            "ERROR *::test_next - infrastructure: DEVICE_OFFLINE: *",
            "ERROR *::test_later - infrastructure: *2 devices are wanted by one test: its own and"
            " 1 more, and this run has 0 spare: 1 did not work and was put aside",
        ]
    )
    result.stdout.no_fnmatch_line("*flaky devices*")
