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
