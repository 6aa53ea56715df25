"""``--claw-output``: where evidence goes."""

from __future__ import annotations

from pathlib import Path

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


def test_the_folder_of_the_ini_twin_starts_from_its_file(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the ini file starts from that file, and so does the usual one."""
    pytester.makeini("[pytest]\nclaw_output = evidence\n")
    folder = pytester.mkdir("tests")
    (folder / "test_it.py").write_text(FAILS)
    monkeypatch.chdir(folder)

    result = run(*QUICK)

    result.assert_outcomes(failed=1)
    assert len(list((pytester.path / "evidence").glob("*/*/screenshot.png"))) == 1


def test_a_file_in_place_of_the_folder_ends_the_run(
    pytester: pytest.Pytester, run_plain: Run
) -> None:
    """A file is no folder, and that is said before anything happens."""
    pytester.makepyfile(FAILS)
    (pytester.path / "taken").write_text("")

    result = run_plain("--claw-output", "taken")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --claw-output: */taken is a file, and evidence needs a folder"]
    )


@pytest.mark.parametrize("taken", ["taken/deeper", "taken"])
def test_below_a_file(pytester: pytest.Pytester, run_plain: Run, taken: str) -> None:
    """A folder cannot be in a file, either, however the file is asked for."""
    (pytester.path / "taken").write_text("")
    pytester.makeini(f"[pytest]\nclaw_output = {taken}\n")

    result = run_plain()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: the ini option claw_output: */taken is a file, and evidence needs a folder"]
    )


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="by design: there is no /proc here")
def test_where_no_folder_can_be(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Where nothing can be written, not even by root, the run ends with the reason."""
    pytester.makepyfile(FAILS)

    result = run_plain("--claw-output", "/proc/evidence")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: --claw-output: no evidence can be kept in /proc/evidence: *; allowed is a"
            " folder that can be made and written"
        ]
    )


def test_a_name_too_long(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A name that no file system takes ends the run, too."""
    pytester.makepyfile(FAILS)

    result = run_plain("--claw-output", "x" * 1000)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --claw-output: no evidence can be kept in *; allowed *"])


def test_nothing_is_left_behind(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A run without evidence makes no folder, though it was seen that it could."""
    pytester.makepyfile("def test_it(): pass")
    before = set(pytester.path.iterdir())

    result = run_plain("--claw-output", "new/deep")

    result.assert_outcomes(passed=1)
    made = {path.name for path in set(pytester.path.iterdir()) - before}
    assert made <= {"__pycache__"}


def test_a_quiet_run_names_only_the_files_of_failures(pytester: pytest.Pytester, run: Run) -> None:
    """``-q`` names the files with the failure, and nothing else."""
    pytester.makepyfile(FAILS)

    result = run("-q", *QUICK)

    output = result.stdout.str()
    assert "\n  screenshot.png\n" in output
    assert "evidence of failures" not in output
    assert "= evidence =" not in output


def test_a_folder_that_cannot_be_one(pytester: pytest.Pytester, run: Run) -> None:
    """A character that no file name can have is told before the first test."""
    pytester.makepyfile(FAILS)
    pytester.makeini("[pytest]\nclaw_output = a\0b\n")

    result = run(*QUICK)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*claw_output*which holds a character that no file name can have*"]
    )
