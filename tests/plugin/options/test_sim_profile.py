"""``--claw-sim-profile``: which Operator the simulated phones have."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

SUITE = """
def test_profile(clawperator):
    steps = [
        {"id": "first", "type": "snapshot_ui"},
        {"id": "second", "type": "click", "params": {"matcher": {"textEquals": "Nowhere"}}},
    ]
    print("steps", [step.id for step in clawperator.execute(steps).steps])
"""
QUICK = """
from pytest_clawperator.plugin.phones import SimulatorScenario

def pytest_clawperator_simulator_scenario():
    return SimulatorScenario(time_scale=0.02)
"""


@pytest.mark.parametrize(
    ("options", "ini", "steps"),
    [
        (["--claw-sim-profile", "documented"], "claw_sim_profile = 0.5.3", "['first', 'second']"),
        # As published, a hard failure loses the steps before it.
        ([], "claw_sim_profile = 0.5.3", "[]"),
    ],
)
def test_simulated_phones_have_the_operator_of_the_profile(
    pytester: pytest.Pytester, run_plain: Run, options: list[str], ini: str, steps: str
) -> None:
    """The simulated phones have the Operator of the option, else of the ini twin."""
    pytester.makepyfile(SUITE)
    pytester.makeconftest(QUICK)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run_plain("-s", "--claw-device", "sim", *options)

    result.assert_outcomes(passed=1)
    assert f"steps {steps}" in result.stdout.str()


def test_the_header_names_the_profile_of_a_scenario(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """The header names the profile that a hook chose."""
    pytester.makepyfile("def test_it(clawperator): pass")
    pytester.makeconftest(QUICK.replace("time_scale=0.02", "profile='0.5.3'"))

    result = run_plain("--claw-device=sim")

    result.stdout.fnmatch_lines(["clawperator: *, Operator 0.5.3 (simulated, profile 0.5.3), *"])
