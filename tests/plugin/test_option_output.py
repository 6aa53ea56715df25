"""``--claw-output``: where evidence goes."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

FAILS = "def test_it(clawperator): assert 0"
QUICK = ("--claw-snapshot=off", "--claw-logcat=off")


def test_on_the_command_line(pytester: pytest.Pytester, run: Run) -> None:
    """A run makes a folder of its own in it and leaves what is there alone."""
    pytester.makepyfile(FAILS)
    other = pytester.mkdir("out") / "precious.txt"
    other.write_text("kept")

    results = [run("--claw-output", "out", *QUICK) for _ in range(2)]

    for result in results:
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["clawperator: evidence of failures goes to out/*"])
    assert other.read_text() == "kept"
    assert len(list((pytester.path / "out").glob("*/*/screenshot.png"))) == 2


def test_by_ini(pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the ini file starts from that file, and so does the usual one."""
    pytester.makeini("[pytest]\nclaw_output = evidence\n")
    folder = pytester.mkdir("tests")
    (folder / "test_it.py").write_text(FAILS)
    monkeypatch.chdir(folder)

    result = run(*QUICK)

    result.assert_outcomes(failed=1)
    assert len(list((pytester.path / "evidence").glob("*/*/screenshot.png"))) == 1


def test_a_file(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A file is no folder, and that is said before anything happens."""
    pytester.makepyfile(FAILS)
    (pytester.path / "taken").write_text("")

    result = run_plain("--claw-output", "taken")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --claw-output: */taken is a file, and evidence needs a folder"]
    )


def test_quiet(pytester: pytest.Pytester, run: Run) -> None:
    """``-q`` names the files with the failure, and nothing else."""
    pytester.makepyfile(FAILS)

    result = run("-q", *QUICK)

    output = result.stdout.str()
    assert "screenshot: claw-results/" in output
    assert "evidence of failures" not in output
    assert "= evidence =" not in output
