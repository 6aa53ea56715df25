"""The devices that ``--claw-device`` names, of which one may not be usable."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

USES_A_PHONE = """
def test_it(clawperator):
    print("used:", clawperator.serial)
"""


def test_a_named_phone_that_is_not_usable_is_left_out(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """A run without workers uses the named phone that is usable, and says what the other lacks."""
    pytester.makepyfile(USES_A_PHONE)
    there = simulator.serials[1]

    result = run_plain("--claw-adb", adb, "--claw-device", "ABSENT", "--claw-device", there, "-rP")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [f"clawperator: left out: [[]ABSENT[]] DEVICE_NOT_FOUND: *{there}*", f"used: {there}"]
    )


def test_no_named_phone_is_usable(pytester: pytest.Pytester, run_plain: Run, adb: str) -> None:
    """Where no named phone is usable, the test's error says why of the first."""
    pytester.makepyfile(USES_A_PHONE)

    result = run_plain("--claw-adb", adb, "--claw-device", "ABSENT", "--claw-device", "GONE")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*[[]ABSENT[]] DEVICE_NOT_FOUND: no such device is connected*"])


@pytest.mark.parametrize(("workers", "is_enough"), [("auto", True), ("1", True), ("2", False)])
def test_workers_have_the_named_phones_that_are_usable(
    pytester: pytest.Pytester,
    run_workers: Run,
    simulator: Simulator,
    adb: str,
    workers: str,
    is_enough: bool,
) -> None:
    """With workers for fewer phones the rest is left out; with too few, the error says why."""
    pytester.makepyfile(USES_A_PHONE)
    named = ("--claw-device", "ABSENT", "--claw-device", simulator.serials[1])

    result = run_workers("-n", workers, "--claw-adb", adb, *named)

    said = (result.stdout if is_enough else result.stderr).str()
    assert "[ABSENT] DEVICE_NOT_FOUND: no such device is connected" in said
    assert ("left out: " in said, "1 passed" in said) == (is_enough, is_enough)
