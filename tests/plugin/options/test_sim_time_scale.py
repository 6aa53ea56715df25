"""``--claw-sim-time-scale``: how long the Operator of simulated phones pauses."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

# The simulator's command line, as its process has it.
SUITE = """
import subprocess

def test_scale(clawperator_transport, pytestconfig):
    ps = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    found = [line for line in ps.stdout.splitlines() if "--seed 4711" in line]
    print("started", found)
"""
SEEDED = """
from pytest_clawperator.plugin.phones import SimulatorScenario

def pytest_clawperator_simulator_scenario():
    return SimulatorScenario(time_scale=0.5, seed=4711)
"""


@pytest.mark.parametrize(
    ("options", "ini", "scale"),
    [
        ([], "", "0.5"),
        ([], "claw_sim_time_scale = 0.25", "0.25"),
        (["--claw-sim-time-scale", "0.02"], "claw_sim_time_scale = 0.25", "0.02"),
    ],
)
def test_the_scale_is_that_of_the_option(
    pytester: pytest.Pytester, run_plain: Run, options: list[str], ini: str, scale: str
) -> None:
    """The option counts, else its ini twin, else what the hook says."""
    pytester.makepyfile(SUITE)
    pytester.makeconftest(SEEDED)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run_plain("-s", "--claw-device", "sim", *options)

    result.assert_outcomes(passed=1)
    assert f"--time-scale {scale}" in result.stdout.str()
