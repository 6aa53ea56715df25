"""``pytest_clawperator_select_device``: an own way to choose."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run


def test_the_last(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """A conftest chooses among the candidates, which are told with the worker."""
    pytester.makeconftest(
        """
        def pytest_clawperator_select_device(candidates, requirements, worker_id):
            assert worker_id == "main"
            assert not requirements.unmet(candidates[0].info)
            return max(candidates, key=lambda candidate: candidate.serial)
        """
    )
    pytester.makepyfile("def test_it(clawperator):\n    print('on', clawperator.serial)\n")

    result = run_plain("-s", "--claw-device", "auto", "--claw-adb", adb)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*on {max(simulator.serials)}*"])


def test_none_of_them(pytester: pytest.Pytester, run: Run) -> None:
    """A device that is none of the candidates is refused."""
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
