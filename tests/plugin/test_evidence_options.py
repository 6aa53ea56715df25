"""When evidence is kept, and where: ``--claw-screenshot``, ``--claw-logcat``, ``--claw-output``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.conftest import Run

FILES = {"screenshot": "screenshot.png", "snapshot": "snapshot.xml", "logcat": "log.txt"}

TESTS = """
def test_passes(clawperator):
    clawperator.home()

def test_fails(clawperator):
    clawperator.home()
    assert 0
"""


def kept(pytester: pytest.Pytester, name: str) -> set[str]:
    """Give the tests that have a file of this name."""
    paths = (pytester.path / "claw-results").glob(f"*/*/{name}")
    return {path.parent.name.split("-")[1] for path in paths}


def test_usually_on_failure(pytester: pytest.Pytester, run: Run) -> None:
    """Without options each is kept of tests that fail."""
    pytester.makepyfile(TESTS)

    run()

    assert [kept(pytester, name) for name in FILES.values()] == [{"test_fails"}] * 3


@pytest.mark.parametrize("option", FILES)
def test_on_keeps_a_screenshot_of_every_test(
    pytester: pytest.Pytester, run: Run, option: str
) -> None:
    """``on`` keeps it of every test, as it was at its end; the others are as they are."""
    pytester.makepyfile(TESTS)
    others = {name: file for name, file in FILES.items() if name != option}

    result = run(f"--claw-{option}=on", *(f"--claw-{name}=off" for name in others))

    result.assert_outcomes(passed=1, failed=1)
    assert kept(pytester, FILES[option]) == {"test_passes", "test_fails"}
    assert [kept(pytester, file) for file in others.values()] == [set(), set()]


def test_with_everything_off_there_is_no_folder(pytester: pytest.Pytester, run: Run) -> None:
    """With everything off there is no folder at all; the ini twins are heard."""
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\n" + "".join(f"claw_{name} = off\n" for name in (*FILES, "trace")))

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    assert not (pytester.path / "claw-results").exists()


ONLY_LOG = ("--claw-screenshot=off", "--claw-snapshot=off")

SUITE = """
def test_fails(clawperator):
    clawperator.snapshot()
    clawperator.snapshot()
    clawperator.press_key("back")
    raise AssertionError

def test_passes(clawperator):
    clawperator.snapshot()
"""


def logs(pytester: pytest.Pytester) -> dict[str, str]:
    """Return the logs by the tests that left them."""
    paths = pytester.path.glob("claw-results/*/*/log.txt")
    return {_test_of(path): path.read_text(encoding="utf-8") for path in paths}


def _test_of(path: Path) -> str:
    return "test_fails" if "test_fails" in path.parent.name else "test_passes"


def test_a_line_stands_for_each_hierarchy(pytester: pytest.Pytester, run: Run) -> None:
    """The log has no hierarchies, but a line for each; the last one is in another file."""
    pytester.makepyfile(test_it=SUITE)

    result = run(*ONLY_LOG)

    result.assert_outcomes(failed=1, passed=1)
    (log,) = logs(pytester).values()
    assert "<node" not in log
    assert "<hierarchy" not in log
    told = [line for line in log.splitlines() if "UI Hierarchy:" in line]
    assert len(told) == 2
    assert told[0].endswith("lines; it is left out")
    assert told[1].endswith("lines; it is in envelopes.json")
    (envelopes,) = pytester.path.glob("claw-results/*/*/envelopes.json")
    step, command = told[1].partition(" step ")[2].partition(",")[0].split(" of ")
    kept = envelopes.read_text(encoding="utf-8")
    assert f'"{command}"' in kept
    assert f'"{step}"' in kept
    assert "hierarchy rotation" in kept


@pytest.mark.parametrize("ini", [False, True])
def test_full_keeps_the_whole_log_of_a_failure(
    pytester: pytest.Pytester, run: Run, ini: bool
) -> None:
    """With ``full`` the log of a test that failed has all that the device logged."""
    pytester.makepyfile(test_it=SUITE)
    pytester.makeini(f"[pytest]\n{'claw_logcat = full' if ini else ''}\n")

    result = run(*ONLY_LOG, *([] if ini else ["--claw-logcat=full"]))

    result.assert_outcomes(failed=1, passed=1)
    assert list(logs(pytester)) == ["test_fails"]
    assert logs(pytester)["test_fails"].count("</hierarchy>") == 2
    assert "left out" not in logs(pytester)["test_fails"]


def test_on_keeps_the_log_of_every_test(pytester: pytest.Pytester, run: Run) -> None:
    """With ``on`` there is a log of each test, with ``off`` of none."""
    pytester.makepyfile(test_it=SUITE)

    run(*ONLY_LOG, "--claw-logcat=off")
    assert logs(pytester) == {}
    run(*ONLY_LOG, "--claw-logcat=on")

    assert sorted(logs(pytester)) == ["test_fails", "test_passes"]
    assert "<node" not in "".join(logs(pytester).values())


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
