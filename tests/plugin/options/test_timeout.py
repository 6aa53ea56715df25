"""``--claw-timeout``: how long actions look for a node."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

TELLS_TIMEOUT = "def test_it(clawperator):\n    print('timeout', clawperator.timeout)\n"


@pytest.mark.parametrize(
    ("options", "ini", "timeout"),
    [
        ([], "", 5.0),
        (["--claw-timeout", "1.5"], "", 1.5),
        ([], "claw_timeout = 7", 7.0),
        (["--claw-timeout", "0"], "claw_timeout = 7", 0.0),
    ],
)
def test_the_option_wins_over_the_ini_twin(
    pytester: pytest.Pytester, run: Run, options: list[str], ini: str, timeout: float
) -> None:
    """The option wins over the ini twin, which wins over five seconds."""
    pytester.makepyfile(TELLS_TIMEOUT)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run("-s", *options)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*timeout {timeout}*"])


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_an_impossible_timeout_ends_the_run(pytester: pytest.Pytester, run: Run, text: str) -> None:
    """What is no number of seconds ends the run, on the command line and in the ini file."""
    pytester.makepyfile(TELLS_TIMEOUT)
    said = "the value must be a number of seconds, found *"

    on_line = run(f"--claw-timeout={text}")
    pytester.makeini(f"[pytest]\nclaw_timeout = {text}\n")
    in_file = run()

    assert on_line.ret == in_file.ret == pytest.ExitCode.USAGE_ERROR
    on_line.stderr.fnmatch_lines([f"ERROR: --claw-timeout: {said}"])
    in_file.stderr.fnmatch_lines([f"ERROR: the ini option claw_timeout: {said}"])


def test_milliseconds_end_the_run(pytester: pytest.Pytester, run: Run) -> None:
    """More than ten minutes are meant as milliseconds."""
    pytester.makepyfile(TELLS_TIMEOUT)

    result = run("--claw-timeout=5000")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --claw-timeout: the value is at most 600 seconds, *. Seconds, not milliseconds? *"]
    )
