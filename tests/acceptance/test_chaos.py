"""A short version of the chaos program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import REDIS, missing

ROOT = Path(__file__).parents[2]
# A seed that strikes Redis as well: leases in it are part of what is promised.
SHORT = ("--seed", "4048", "--rounds", "3", "--tests", "6", "--longest", "300", "--quick")


@pytest.mark.soak
def test_runs_that_are_struck_at_random() -> None:
    """Nothing overlaps, no verdict is lost, and nothing is left behind."""
    played = subprocess.run(
        [sys.executable, "-m", "tests.acceptance.chaos", *SHORT],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )

    assert played.returncode == 0, played.stdout
    assert "overlaps 0, lost verdicts 0, double verdicts 0, leftovers 0" in played.stdout
    assert missing(REDIS) is not None or "redis-freeze" in played.stdout, played.stdout
