"""The index of a run: a line for each attempt as it ends, and a page that leads to all."""

from __future__ import annotations

import base64
import gzip
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.report.index import INDEX_FILE, RUN_FILE
from tests.plugin.conftest import Run

QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")
TESTS = """
    import pytest

    @pytest.fixture
    def bad_start(clawperator):
        raise ValueError("no start")

    def test_passes(clawperator):
        clawperator.home()

    @pytest.mark.slow
    def test_fails(clawperator):
        clawperator.wait_for_node(text="Nowhere", timeout=0)

    def test_bad_start(bad_start):
        pass

    def test_skipped(clawperator):
        pytest.skip("not today")

    @pytest.mark.xfail
    def test_known(clawperator):
        assert 0

    def test_without_a_device():
        assert 1
"""


def run_of(pytester: pytest.Pytester) -> Path:
    """Return the folder of the only run."""
    (folder,) = (pytester.path / "claw-results").iterdir()
    return folder


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return what the run wrote down."""
    return [json.loads(line) for line in (folder / RUN_FILE).read_text("ascii").splitlines()]


def attempts_of(folder: Path) -> list[dict[str, Any]]:
    """Return the attempts that the run wrote down."""
    return [line for line in lines_of(folder) if line["kind"] == "test"]


def shown_in(folder: Path) -> list[dict[str, Any]]:
    """Return the tests that the page of the run has."""
    page = (folder / INDEX_FILE).read_text("utf-8")
    found = re.search(r'id="data">(.*?)</script>', page)
    assert found is not None
    tests: list[dict[str, Any]] = json.loads(found[1])["tests"]
    return tests


@pytest.fixture
def slow_marker(pytester: pytest.Pytester) -> None:
    """Declare the marker that the tests have."""
    pytester.makeini("[pytest]\nmarkers = slow")


@pytest.mark.usefixtures("slow_marker")
def test_each_test_has_a_line(pytester: pytest.Pytester, run: Run) -> None:
    """Outcome, phases, device, error, evidence and markers of each test are written down."""
    pytester.makepyfile(TESTS)

    result = run(*QUICK)

    folder = run_of(pytester)
    tests = {test["nodeid"].rpartition("::")[2]: test for test in attempts_of(folder)}
    assert {name: test["outcome"] for name, test in tests.items()} == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_bad_start": "error",
        "test_skipped": "skipped",
        "test_known": "xfailed",
        "test_without_a_device": "passed",
    }
    failed = tests["test_fails"]
    assert failed["error"]["code"] == "NODE_NOT_FOUND"
    assert failed["markers"] == ["slow"]
    assert set(failed["seconds"]) == {"setup", "call", "teardown"}
    assert failed["start"] < failed["stop"]
    assert (folder / failed["folder"]).is_dir()
    assert (folder / failed["page"]).name == "trace.html"
    assert tests["test_bad_start"]["error"] == {"message": "no start", "phase": "setup"}
    assert "devices" not in tests["test_without_a_device"]
    (device,) = [line for line in lines_of(folder) if line["kind"] == "device"]
    assert failed["devices"] == [device["serial"]]
    assert device["about"]["model"]
    shown = f"claw-results/{folder.name}/{INDEX_FILE}"
    assert [line for line in result.outlines if line == shown]


@pytest.mark.usefixtures("slow_marker")
def test_the_page_leads_to_the_traces(pytester: pytest.Pytester, run: Run) -> None:
    """The trace of a failed test has a page, which the report and the index name."""
    pytester.makepyfile(TESTS)

    result = run(*QUICK, "-k", "test_fails", "--junitxml=junit.xml")

    folder = run_of(pytester)
    (test,) = shown_in(folder)
    page = folder / test["page"]
    assert 'id="data"' in page.read_text("utf-8")
    shown = str(page.relative_to(pytester.path))
    result.stdout.fnmatch_lines([str(Path(shown).parent), "  trace.html"])
    junit = (pytester.path / "junit.xml").read_text("utf-8")
    assert f'name="clawperator_trace" value="{shown}"' in junit


def test_a_run_without_a_device_writes_nothing(pytester: pytest.Pytester, run_plain: Run) -> None:
    """Tests that use no device leave no folder."""
    pytester.makepyfile("import pytest_clawperator\n\ndef test_it():\n    assert 0")

    result = run_plain()

    result.assert_outcomes(failed=1)
    assert not (pytester.path / "claw-results").exists()


@pytest.mark.usefixtures("slow_marker")
def test_off_writes_no_index(pytester: pytest.Pytester, run: Run) -> None:
    """Without traces there is no index."""
    pytester.makepyfile(TESTS)

    run(*QUICK, "--claw-trace=off", "-k", "test_passes")

    assert not (pytester.path / "claw-results").exists()


def test_each_attempt_is_in_the_index(pytester: pytest.Pytester, run: Run) -> None:
    """Attempts of pytest-rerunfailures are told apart, each with its own trace."""
    pytester.makepyfile(
        """
        attempts = []

        def test_flaky(clawperator):
            clawperator.home()
            attempts.append(1)
            assert len(attempts) == 3
        """
    )

    run(*QUICK, "-p", "pytest_rerunfailures", "--reruns=2")

    folder = run_of(pytester)
    told = [(test["attempt"], test["outcome"]) for test in attempts_of(folder)]
    assert told == [(1, "rerun"), (2, "rerun"), (3, "passed")]
    pages = [test.get("page", "") for test in shown_in(folder)]
    assert [re.findall(r"attempt-\d", page) for page in pages] == [["attempt-1"], ["attempt-2"], []]


@pytest.mark.usefixtures("slow_marker")
def test_workers_report_to_one_index(pytester: pytest.Pytester, run_workers: Run) -> None:
    """With -n, each test names its worker and its device."""
    pytester.makepyfile(TESTS)

    run_workers("-n2", "--claw-device=sim", *QUICK)

    tests = attempts_of(run_of(pytester))
    assert len(tests) == 6
    assert {test["worker"] for test in tests} == {"gw0", "gw1"}
    devices = {test["worker"]: test["devices"] for test in tests if "devices" in test}
    assert len({tuple(serials) for serials in devices.values()}) == len(devices)


def test_a_killed_worker_is_in_the_index(pytester: pytest.Pytester, run_workers: Run) -> None:
    """The test of a worker that died is one test, with the page of what it did until then."""
    pytester.makepyfile(
        f"""
        import os

        def test_dies(clawperator):
            clawperator.open_app("com.android.settings")
            os.kill(os.getpid(), {int(signal.SIGKILL)})
        """
    )

    run_workers("-n1", "--claw-device=sim", *QUICK, "--max-worker-restart=0")

    folder = run_of(pytester)
    (test,) = shown_in(folder)
    assert (test["outcome"], test["worker"]) == ("failed", "gw0")
    assert "crashed" in test["message"]
    assert test["page"].startswith("unfinished/")
    assert (folder / test["page"]).is_file()


def test_a_run_that_is_stopped_has_an_index(pytester: pytest.Pytester, run: Run) -> None:
    """What ended before is written down, and the page is there."""
    pytester.makepyfile(
        """
        import pytest

        def test_before(clawperator):
            clawperator.home()

        def test_stops(clawperator):
            clawperator.home()
            pytest.exit("enough")
        """
    )

    run(*QUICK)

    assert [test["outcome"] for test in shown_in(run_of(pytester))] == ["passed", "broken off"]


def test_a_folder_that_cannot_be_written_fails_no_test(pytester: pytest.Pytester, run: Run) -> None:
    """A line says that there is no index."""
    pytester.makepyfile("def test_it(clawperator):\n    clawperator.home()")
    (pytester.path / "claw-results").touch()

    result = run(*QUICK)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*no index of the run: *"])


def test_a_test_is_compared_with_its_last_passing_run(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of a failed test also has the trace of the run in which it passed."""
    pytester.makepyfile(
        """
        import os

        def test_it(clawperator):
            clawperator.home()
            assert "FAILS" not in os.environ
        """
    )
    run(*QUICK, "--claw-trace=on")
    monkeypatch.setenv("FAILS", "1")

    run(*QUICK)

    (page,) = [
        path
        for path in (pytester.path / "claw-results").glob("*/*/trace.html")
        if ">failed: " in path.read_text("utf-8")
    ]
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"))
    assert found is not None
    passed = json.loads(gzip.decompress(base64.b64decode(json.loads(found[1])["passed"])))
    assert passed["events"][-1]["outcome"] == "passed"
