"""``--claw-redact``: what is hidden besides typed secrets."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

PRINTS = "def test_it(): print('key-123 and word-45')"


def test_several_patterns_on_the_command_line(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Each value that is given counts."""
    pytester.makepyfile(PRINTS)

    result = run_plain("-rA", "--claw-redact", "key-[0-9]+", "--claw-redact", "word-[0-9]+")

    result.stdout.fnmatch_lines(["[[]***[]] and [[]***[]]"])


def test_patterns_and_variables_in_the_ini_file(
    pytester: pytest.Pytester, run_plain: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ini twin takes several values; backslashes stand in quotes."""
    monkeypatch.setenv("MY_KEY", "key-123")
    pytester.makeini("[pytest]\nclaw_redact =\n    'word-\\d+'\n    env:*_KEY\n")
    pytester.makepyfile(PRINTS)

    result = run_plain("-rA")

    result.stdout.fnmatch_lines(["[[]***[]] and [[]***[]]"])


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("key-[", "'key-[[]' is no regular expression: *"),
        ("(key)?", "'(key)[?]' matches an empty text, *"),
        ("env:", "found 'env:', allowed is env: and the name of an environment variable*"),
    ],
)
def test_a_bad_pattern_ends_the_run(
    pytester: pytest.Pytester, run_plain: Run, rule: str, problem: str
) -> None:
    """What cannot be meant is refused before any test runs, with the reason."""
    pytester.makepyfile(PRINTS)

    result = run_plain("--claw-redact", rule)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --claw-redact: {problem}"])
