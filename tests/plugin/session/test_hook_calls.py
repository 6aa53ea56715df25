"""Hooks that raise, or answer nonsense, are named; no run ends in an error of pytest's own."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

HOOKS = (
    "pytest_clawperator_list_devices",
    "pytest_clawperator_simulator_scenario",
    "pytest_clawperator_select_device",
)
TWO_TESTS = "def test_one(clawperator): pass\ndef test_two(clawperator): pass\n"


@pytest.mark.parametrize("hook", [*HOOKS, "pytest_clawperator_processors"])
def test_one_that_raises(pytester: pytest.Pytester, run_plain: Run, hook: str) -> None:
    """The error that all tests with a device share says which hook raised what, and where."""
    pytester.makeconftest(f"def {hook}():\n    raise RuntimeError('the farm is down')\n")
    pytester.makepyfile(TWO_TESTS)

    result = run_plain("--claw-device", "sim")

    assert result.parseoutcomes() == {"errors": 1, "same": 1}
    result.stdout.fnmatch_lines(
        [
            f"E * CONFIGURATION_INVALID: the hook {hook} raised RuntimeError: the farm is down",
            f'*File "*conftest.py", line 2, in {hook}',
            "*raise RuntimeError('the farm is down')",
        ]
    )


@pytest.mark.parametrize(
    ("hook", "answer", "wanted"),
    [
        ("list_devices", "['nonsense']", "a list of pytest_clawperator.devices.pool.Candidate"),
        ("list_devices", "7", "a list of pytest_clawperator.devices.pool.Candidate"),
        (
            "simulator_scenario",
            "{'api': 34}",
            "a pytest_clawperator.plugin.phones.SimulatorScenario",
        ),
        ("processors", "['nonsense']", "a list of functions"),
        ("processors", "7", "a list of functions"),
    ],
)
def test_a_wrong_result_is_shown_with_what_is_wanted(
    pytester: pytest.Pytester, run_plain: Run, hook: str, answer: str, wanted: str
) -> None:
    """An answer that is none is shown, with what is wanted instead."""
    pytester.makeconftest(f"def pytest_clawperator_{hook}():\n    return {answer}\n")
    pytester.makepyfile(TWO_TESTS)

    result = run_plain("--claw-device", "sim")

    assert result.parseoutcomes() == {"errors": 1, "same": 1}
    said = f"*the hook pytest_clawperator_{hook} returned {answer}, wanted is {wanted}"
    result.stdout.fnmatch_lines([said.replace("[", "[[]")] * 2)


def test_errors_of_ours_stay(pytester: pytest.Pytester, run_plain: Run) -> None:
    """An error of the package that a hook raises is told as it is."""
    pytester.makeconftest(
        """
        from pytest_clawperator import NoDeviceError

        def pytest_clawperator_list_devices():
            raise NoDeviceError("the farm has no device", hint="Ask the farmer.")
        """
    )
    pytester.makepyfile(TWO_TESTS)

    result = run_plain()

    assert result.parseoutcomes() == {"errors": 1, "same": 1}
    result.stdout.fnmatch_lines(["E * NO_DEVICES: the farm has no device", "*Ask the farmer.*"])
