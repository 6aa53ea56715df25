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
