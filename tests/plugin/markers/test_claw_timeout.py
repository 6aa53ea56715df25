"""``claw_timeout``: how long the actions of one test look for a node."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_for_one_test(pytester: pytest.Pytester, run: Run) -> None:
    """The closest marker holds for its test, and the option for those without."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_timeout(30)
        class TestSlow:
            def test_slow(self, clawperator):
                assert clawperator.timeout == 30

            @pytest.mark.claw_timeout(0.5)
            def test_quick(self, clawperator):
                assert clawperator.timeout == 0.5

        def test_usual(clawperator, clawperator_client):
            assert clawperator_client.timeout == 3
        """
    )

    result = run("--strict-markers", "--claw-timeout", "3")

    result.assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("'5 s'", "the value must be a number of seconds, found '5 s'. *"),
        ("-1", "the value must be a number of seconds, found -1. *"),
        ("True", "the value must be a number of seconds, found True. *"),
        (
            "20000",
            "the value is at most 600 seconds, found 20000. Seconds, not milliseconds? *",
        ),
        ("", "it is written claw_timeout(seconds)"),
    ],
)
def test_an_impossible_timeout_ends_the_run(
    pytester: pytest.Pytester, run: Run, given: str, said: str
) -> None:
    """What is no number of seconds ends the run with what is allowed."""
    pytester.makepyfile(
        test_it=f"import pytest\n\n@pytest.mark.claw_timeout({given})\ndef test_it(): pass\n"
    )

    result = run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: test_it.py::test_it: claw_timeout({given}): {said}"])
