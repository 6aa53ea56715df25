"""The tests themselves: collected on any machine, in a random order in long runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent


def test_a_long_run_is_shuffled_and_can_be_repeated(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long run names its seed, and a run with this seed has the same order."""
    monkeypatch.delenv("CLAWPERATOR_SEED", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    pytester.makeconftest((TOP / "conftest.py").read_text(encoding="utf-8"))
    suite = "\n".join(f"def test_{number}(): pass" for number in range(10, 50))
    pytester.makepyfile(test_one=suite, test_two=suite)

    monkeypatch.setenv("CLAWPERATOR_SOAK", "1")
    first = pytester.runpytest_subprocess("-v", "--collect-only").stdout
    (header,) = [line for line in first.lines if "CLAWPERATOR_SEED=" in line]
    monkeypatch.delenv("CLAWPERATOR_SOAK")
    monkeypatch.setenv("CLAWPERATOR_SEED", header.rpartition("=")[2])
    again = pytester.runpytest_subprocess("-v", "--collect-only").stdout

    order = [line for line in first.lines if "<Function" in line]
    assert order == [line for line in again.lines if "<Function" in line]
    assert len(order) == 80
    assert order[:40] != sorted(order[:40])


def test_the_suite_is_collected_without_any_variable_of_ours() -> None:
    """A fresh clone on a stranger's machine: every module of the tests can be imported."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("CLAWPERATOR_")
    }

    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=TOP,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert collected.returncode == 0, collected.stdout[-3_000:] + collected.stderr[-3_000:]
