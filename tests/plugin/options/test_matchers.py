"""``--claw-matchers``: what happens when several nodes match an action on one."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

TELLS = "def test_it(clawperator):\n    print('matchers', clawperator.matchers)\n"


@pytest.mark.parametrize(
    ("options", "ini", "kind"),
    [
        ([], "", "strict"),
        (["--claw-matchers", "first"], "", "first"),
        ([], "claw_matchers = first", "first"),
        (["--claw-matchers", "strict"], "claw_matchers = first", "strict"),
    ],
)
def test_the_option_wins_over_the_ini_twin(
    pytester: pytest.Pytester, run: Run, options: list[str], ini: str, kind: str
) -> None:
    """The option wins over the ini twin, which wins over strict."""
    pytester.makepyfile(TELLS)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run("-s", *options)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*matchers {kind}*"])


def test_another_word_ends_the_run(pytester: pytest.Pytester, run: Run) -> None:
    """There are two kinds only."""
    pytester.makepyfile(TELLS)

    result = run("--claw-matchers=loose")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --claw-matchers: found 'loose', allowed is strict or first"]
    )
