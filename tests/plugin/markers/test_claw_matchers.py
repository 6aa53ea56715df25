"""``claw_matchers``: what is so in one test where several nodes fit."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_for_one_test(pytester: pytest.Pytester, run: Run) -> None:
    """The closest marker holds for its test, and the option for those without."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.claw_matchers("first")
        class TestLoose:
            def test_loose(self, clawperator):
                assert clawperator.matchers == "first"

            @pytest.mark.claw_matchers("strict")
            def test_strict(self, clawperator):
                assert clawperator.matchers == "strict"

        def test_usual(clawperator, clawperator_client):
            assert clawperator_client.matchers == "strict"
        """
    )

    result = run("--strict-markers")

    result.assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("'any'", "found 'any', allowed is 'strict' or 'first'"),
        ("", "it is written claw_matchers(kind)"),
    ],
)
def test_another_word_ends_the_run(
    pytester: pytest.Pytester, run: Run, given: str, said: str
) -> None:
    """There are two kinds only."""
    pytester.makepyfile(
        test_it=f"import pytest\n\n@pytest.mark.claw_matchers({given})\ndef test_it(): pass\n"
    )

    result = run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: test_it.py::test_it: claw_matchers({given}): {said}"])
