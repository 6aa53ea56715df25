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


def test_slow_actions_are_named_with_their_tests(pytester: pytest.Pytester, run: Run) -> None:
    """Actions of a second or more are named with their tests, the slowest first."""
    pytester.makepyfile(TESTS)

    result = run()

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*= slowest actions =*",
            "*  1.*s sleep*(test_slow_actions_are_named_with_their_tests.py::test_slow)",
        ]
    )
    result.stdout.no_fnmatch_line("*press_key*")


ON = ("--claw-screenshot=on", "--claw-snapshot=off", "--claw-logcat=off")


def test_evidence_of_passed_tests(pytester: pytest.Pytester, run: Run) -> None:
    """One line tells of them all, after the folders of those that failed."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", [1, 2, 3])
        def test_it(clawperator, number):
            assert number != 2
        """
    )

    result = run(*ON)

    (folder,) = (pytester.path / "claw-results").iterdir()
    place = folder.relative_to(pytester.path)
    result.stdout.fnmatch_lines(
        [
            "*= evidence =*",
            f"{place}",
            "  test_evidence*-2-*",
            "  2 tests that did not fail",
        ],
        consecutive=True,
    )


def test_evidence_of_nothing_but_passed_tests(pytester: pytest.Pytester, run: Run) -> None:
    """Where none failed, the one line is all."""
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run(*ON)

    result.stdout.fnmatch_lines(
        ["*= evidence =*", "claw-results/????????-??????-????", "  1 test that did not fail"],
        consecutive=True,
    )


def test_a_verbose_run_names_quick_actions_too(pytester: pytest.Pytester, run: Run) -> None:
    """``-v`` names the slowest, however quick they are."""
    pytester.makepyfile("def test_quick(clawperator):\n    clawperator.press_key('back')")

    result = run("-v")

    result.stdout.fnmatch_lines(["*= slowest actions =*", "*0.*s press_key 'back'*::test_quick)"])


def test_a_quiet_run_names_no_actions(pytester: pytest.Pytester, run: Run) -> None:
    """``-q`` names none, and quick runs have none to name."""
    pytester.makepyfile("def test_quick(clawperator):\n    clawperator.press_key('back')")

    outputs = [run("-q").stdout.str(), run().stdout.str()]

    assert not any("slowest" in output for output in outputs)
