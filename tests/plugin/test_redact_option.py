"""``--claw-redact``: what is hidden besides typed secrets."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

PRINTS = "def test_it(): print('key-123 and word-45')"


def test_patterns_and_variables_are_hidden(
    pytester: pytest.Pytester, run_plain: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several on the command line, or in the ini twin, where backslashes stand in quotes."""
    monkeypatch.setenv("MY_KEY", "key-123")
    pytester.makepyfile(PRINTS)

    on_line = run_plain("-rA", "--claw-redact", "key-[0-9]+", "--claw-redact", "word-[0-9]+")
    pytester.makeini("[pytest]\nclaw_redact =\n    'word-\\d+'\n    env:*_KEY\n")
    in_file = run_plain("-rA")

    for result in (on_line, in_file):
        result.stdout.fnmatch_lines(["[[]***[]] and [[]***[]]"])


def test_a_variable_with_an_ordinary_value_is_named(
    pytester: pytest.Pytester, run_plain: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not hidden; the notice has no values."""
    for name, value in (("A_KEY", "word-45"), ("C_KEY", "yes"), ("B_KEY", "True")):
        monkeypatch.setenv(name, value)
    pytester.makepyfile("def test_it(): print('word-45 is True, yes')")

    result = run_plain("-rA", "--claw-redact", "env:*_KEY", "--claw-redact=env:B_*")

    result.stdout.fnmatch_lines(["[[]***[]] is True, yes"])
    notices = [
        line for line in result.stdout.lines if "shorter than 4 characters: B_KEY, C_KEY." in line
    ]
    assert len(notices) == 2  # before the tests, and among the notices at the end


def test_a_parameter_that_is_a_secret_reaches_its_test(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """Reports of the collection have hidden secrets, and the collected tests are left alone."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(params=["key-123"])
        def other(request): return request.param

        @pytest.mark.parametrize("key", ["key-123"])
        def test_it(key, other): assert key == other == "key-" + "123"
        """
    )

    result = run_plain("--claw-redact", "key-[0-9]+", "--claw-redact", "requ...")

    result.assert_outcomes(passed=1)
