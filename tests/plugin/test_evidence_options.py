"""When evidence is kept, and where: ``--claw-screenshot``, ``--claw-logcat``, ``--claw-output``."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

FILES = {"screenshot": "screenshot.png", "snapshot": "snapshot.xml", "logcat": "log.txt"}
TESTS = """
def test_passes(clawperator):
    clawperator.snapshot()

def test_fails(clawperator):
    clawperator.snapshot()
    clawperator.snapshot()
    clawperator.press_key("back")
    assert 0
"""


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester) -> None:
    """Write a suite of which one test fails."""
    pytester.makepyfile(test_it=TESTS)


def kept(pytester: pytest.Pytester, name: str) -> dict[str, str]:
    """Return the files of this name, by the tests that left them."""
    paths = (pytester.path / "claw-results").glob(f"*/*/{name}")
    return {
        path.parent.name.split("-")[1]: path.read_bytes().decode(errors="replace") for path in paths
    }


def test_by_default_evidence_of_failures_is_kept(pytester: pytest.Pytester, run: Run) -> None:
    """The log has a line for each hierarchy; the last one is in another file."""
    result = run()

    result.assert_outcomes(passed=1, failed=1)
    assert [[*kept(pytester, name)] for name in FILES.values()] == [["test_fails"]] * 3
    (log,) = kept(pytester, "log.txt").values()
    assert "<node" not in log
    lines = [line for line in log.splitlines() if "UI Hierarchy:" in line]
    assert [line.rpartition("lines; ")[2] for line in lines] == [
        "it is left out",
        "it is in envelopes.json",
    ]
    step, command = lines[1].partition(" step ")[2].partition(",")[0].split(" of ")
    (envelopes,) = kept(pytester, "envelopes.json").values()
    for wanted in (f'"{command}"', f'"{step}"', "hierarchy rotation"):
        assert wanted in envelopes


@pytest.mark.parametrize("option", FILES)
def test_on_keeps_it_of_every_test(pytester: pytest.Pytester, run: Run, option: str) -> None:
    """Each option is for one kind of file."""
    others = [name for name in FILES if name != option]

    run(f"--claw-{option}=on", *(f"--claw-{name}=off" for name in others))

    assert sorted(kept(pytester, FILES[option])) == ["test_fails", "test_passes"]
    assert [kept(pytester, FILES[name]) for name in others] == [{}, {}]
    assert not any("<node" in log for log in kept(pytester, "log.txt").values())


def test_with_everything_off_there_is_no_folder(pytester: pytest.Pytester, run: Run) -> None:
    """By the ini twins."""
    pytester.makeini("[pytest]\n" + "".join(f"claw_{name} = off\n" for name in (*FILES, "trace")))

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    assert not (pytester.path / "claw-results").exists()


def test_full_keeps_the_whole_log_of_a_failure(pytester: pytest.Pytester, run: Run) -> None:
    """With the hierarchies in it."""
    run("--claw-screenshot=off", "--claw-snapshot=off", "--claw-logcat=full")

    logs = kept(pytester, "log.txt")
    assert list(logs) == ["test_fails"]
    assert logs["test_fails"].count("</hierarchy>") == 2
    assert "left out" not in logs["test_fails"]


QUICK = ("--claw-snapshot=off", "--claw-logcat=off")


def test_each_run_has_its_own_folder(pytester: pytest.Pytester, run: Run) -> None:
    """Other files stay; a quiet run names only the files of failures."""
    other = pytester.mkdir("out") / "precious.txt"
    other.write_text("kept")

    result = run("--claw-output", "out", *QUICK)
    quiet = run("--claw-output", "out", *QUICK, "-q").stdout.str()

    result.stdout.fnmatch_lines(["clawperator: evidence of failures goes to out/*"])
    assert "\n  screenshot.png\n" in quiet
    assert "evidence of failures" not in quiet
    assert "= evidence =" not in quiet
    assert other.read_text() == "kept"
    assert len(list((pytester.path / "out").glob("*/*/screenshot.png"))) == 2


def test_the_folder_of_the_ini_twin_starts_from_its_file(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever pytest was started."""
    pytester.makeini("[pytest]\nclaw_output = evidence\n")
    folder = pytester.mkdir("tests")
    (pytester.path / "test_it.py").rename(folder / "test_it.py")
    monkeypatch.chdir(folder)

    run(*QUICK)

    assert len(list((pytester.path / "evidence").glob("*/*/screenshot.png"))) == 1


def test_a_run_without_evidence_makes_no_folder(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Though it was checked that it could."""
    pytester.makepyfile(test_it="def test_it(): pass")
    before = set(pytester.path.iterdir())

    run_plain("--claw-output", "new/deep").assert_outcomes(passed=1)

    made = {path.name for path in set(pytester.path.iterdir()) - before}
    assert made <= {"__pycache__"}
