"""The order of these tests: random in long runs, and repeatable."""

from __future__ import annotations

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
