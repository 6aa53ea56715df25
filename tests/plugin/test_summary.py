"""What took longest, at the end of a run."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

TESTS = """
def test_slow(clawperator):
    clawperator.home()
    clawperator.execute([{"id": "nap", "type": "sleep", "params": {"durationMs": 22000}}])

def test_quick(clawperator):
    clawperator.press_key("back")
"""


def test_slow_actions(pytester: pytest.Pytester, run: Run) -> None:
    """Actions of a second or more are named with their tests, the slowest first."""
    pytester.makepyfile(TESTS)

    result = run()

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["*= slowest actions =*", "*  1.*s sleep*(test_slow_actions.py::test_slow)"]
    )
    result.stdout.no_fnmatch_line("*press_key*")


def test_verbose(pytester: pytest.Pytester, run: Run) -> None:
    """``-v`` names the slowest, however quick they are."""
    pytester.makepyfile("def test_quick(clawperator):\n    clawperator.press_key('back')")

    result = run("-v")

    result.stdout.fnmatch_lines(["*= slowest actions =*", "*0.*s press_key 'back'*::test_quick)"])


def test_quiet(pytester: pytest.Pytester, run: Run) -> None:
    """``-q`` names none, and quick runs have none to name."""
    pytester.makepyfile("def test_quick(clawperator):\n    clawperator.press_key('back')")

    outputs = [run("-q").stdout.str(), run().stdout.str()]

    assert not any("slowest" in output for output in outputs)
