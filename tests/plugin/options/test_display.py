"""``--claw-display``: the display that pictures, sizes and touches of adb belong to."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

TELLS = "def test_it(clawperator_transport):\n    print('display', clawperator_transport.display)\n"


@pytest.mark.parametrize(
    ("options", "ini", "display"),
    [
        ([], "", "None"),
        (["--claw-display", "0"], "claw_display = 2", "0"),
        ([], "claw_display = 2", "2"),
    ],
)
def test_the_option_wins_over_the_ini_twin(
    pytester: pytest.Pytester, run: Run, options: list[str], ini: str, display: str
) -> None:
    """The option wins over the ini twin; without both, the phone decides."""
    pytester.makepyfile(TELLS)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run("-s", *options)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*display {display}*"])


def test_what_is_no_number_ends_the_run(pytester: pytest.Pytester, run: Run) -> None:
    """Displays have numbers."""
    pytester.makepyfile(TELLS)

    result = run("--claw-display=inner")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --claw-display: found 'inner', allowed is a number*"])
