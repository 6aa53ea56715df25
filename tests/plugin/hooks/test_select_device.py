"""``pytest_clawperator_select_device``: a conftest chooses the device."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

CHOOSE_LAST = """
def pytest_clawperator_select_device(candidates, requirements, worker_id):
    print("chosen for", worker_id, "with", requirements)
    return max(candidates, key=lambda candidate: candidate.serial)
"""
PRINT_SERIAL = "def test_it(clawperator):\n    print('on', clawperator.serial)\n"


def test_a_conftest_chooses_among_the_candidates(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """The test runs on the device that the hook returned."""
    pytester.makeconftest(CHOOSE_LAST)
    pytester.makepyfile(PRINT_SERIAL)

    result = run_plain("-s", "--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*chosen for main *", f"*on {max(simulator.serials)}*"])


def test_the_hook_is_told_what_the_run_requires(
    pytester: pytest.Pytester, run_plain: Run, adb: str
) -> None:
    """What ``--claw-require`` asks of a device is what the hook has to meet."""
    pytester.makeconftest(CHOOSE_LAST)
    pytester.makepyfile(PRINT_SERIAL)
    options = ["--claw-device", "auto", "--claw-adb", adb]

    result = run_plain("-s", *options, "--claw-require", "api=>=30;emulator=false")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*chosen for main *api='>=30'*emulator=False*"])


def test_the_hook_is_told_the_class_of_a_matrix(
    pytester: pytest.Pytester, run_plain: Run, adb: str
) -> None:
    """For a class of a matrix, the hook is told what both the run and the class require."""
    pytester.makeconftest(CHOOSE_LAST)
    pytester.makepyfile(PRINT_SERIAL)
    options = ["--claw-device", "auto", "--claw-adb", adb]

    result = run_plain("-s", *options, "--claw-require", "api=>=30", "--claw-matrix", "form=phone")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*chosen for main *api='>=30'*form='phone'*"])


def test_a_device_that_is_no_candidate_is_refused(pytester: pytest.Pytester, run: Run) -> None:
    """The hook can only return one of the candidates."""
    pytester.makeconftest(
        "def pytest_clawperator_select_device(candidates):\n    return 'my phone'\n"
    )
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*the device selected for main is none of the candidates: 'my phone'",
            "*hint: Have the hook pytest_clawperator_select_device return one of the candidates *",
        ]
    )
