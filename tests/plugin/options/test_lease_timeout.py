"""``--claw-lease-timeout``: how long to wait for devices that somebody else has."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pytest_clawperator.devices.lease import Hold, open_leases, take_each
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run

USES_DEVICE = "def test_it(clawperator): pass\ndef test_plain(): pass\n"


@pytest.fixture
def colleague(simulator: Simulator) -> Iterator[Hold]:
    """Have somebody hold the first phone."""
    hold = open_leases(run_id="nightly").try_take(f"127.0.0.1/{simulator.serials[0]}")
    assert hold is not None
    with hold:
        yield hold


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "the device is held by"),
        (["--claw-lease-timeout", "0.2"], "after 0.2 s of waiting the device is still held by"),
    ],
)
def test_somebody_has_it(
    pytester: pytest.Pytester,
    run: Run,
    colleague: Hold,
    phone: AdbTransport,
    options: list[str],
    said: str,
) -> None:
    """The tests that need the device say who has it: at once, or after waiting."""
    pytester.makepyfile(USES_DEVICE)

    result = run(*options)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            f"E *LeaseError: [[]{phone.serial}[]] DEVICE_LEASED: {said} *"
            f" (process {os.getpid()} on *, run nightly) since *",
            "*hint: Wait for it with --claw-lease-timeout SECONDS, choose another device, or end"
            " that process.",
        ]
    )


def test_it_is_given_back(
    pytester: pytest.Pytester,
    run: Run,
    colleague: Hold,
    phone: AdbTransport,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is said who is waited for, and the run goes on as soon as that one is done."""
    pytester.makepyfile(USES_DEVICE)
    monkeypatch.setitem(
        take_each.__kwdefaults__ or {}, "pause", lambda seconds: colleague.release()
    )

    result = run("--claw-lease-timeout", "30")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: waiting for {phone.serial}, held by * (process {os.getpid()} on *, run"
            " nightly) since *; 30 s left",
            "clawperator: 127.0.0.1:* (Google Pixel *, API 36), *",
        ]
    )


def test_another_will_do(
    pytester: pytest.Pytester, run_plain: Run, colleague: Hold, simulator: Simulator, adb: str
) -> None:
    """Where any device will do, one that is free is taken."""
    pytester.makepyfile(USES_DEVICE)

    result = run_plain("--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"clawperator: {simulator.serials[1]} (Google Pixel *"])
    result.stdout.no_fnmatch_line(f"clawperator: {simulator.serials[0]} *")


def test_too_few_free_devices_for_the_workers_end_the_run(
    pytester: pytest.Pytester, run_workers: Run, colleague: Hold, phone: AdbTransport, adb: str
) -> None:
    """Too few free devices for the workers end the run, and it is said who has the others."""
    pytester.makepyfile(USES_DEVICE)

    result = run_workers("-n", "2", "--claw-device", "auto", "--claw-adb", adb)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*DEVICE_LEASED: 2 devices are wanted, and 1 of 2 can be had:"
            f" {phone.serial} is held by * (process {os.getpid()} on *, run nightly) since *",
            "*hint: Wait for it with --claw-lease-timeout SECONDS, *",
        ]
    )
    assert "passed" not in result.stdout.str()


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_an_impossible_timeout_ends_the_run(pytester: pytest.Pytester, run: Run, text: str) -> None:
    """What is no number of seconds ends the run, on the command line and in the ini file."""
    pytester.makepyfile(USES_DEVICE)
    said = "the value must be a number of seconds, found *"

    on_line = run(f"--claw-lease-timeout={text}")
    pytester.makeini(f"[pytest]\nclaw_lease_timeout = {text}\n")
    in_file = run()

    assert on_line.ret == in_file.ret == pytest.ExitCode.USAGE_ERROR
    on_line.stderr.fnmatch_lines([f"ERROR: --claw-lease-timeout: {said}"])
    in_file.stderr.fnmatch_lines([f"ERROR: the ini option claw_lease_timeout: {said}"])
