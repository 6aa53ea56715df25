"""The index of a run: a line for each attempt as it ends, and a page that leads to all."""

from __future__ import annotations

import base64
import errno
import gzip
import json
import os
import re
import signal
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pytest_clawperator.plugin.run_index import AttemptReports
from pytest_clawperator.report.index import INDEX_FILE, RUN_FILE, RunLog, TestEnded, TestMoved
from pytest_clawperator.report.trace import TraceEvent, read_trace
from tests.plugin.conftest import QUICK, Run

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


def lines_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Return the lines of this kind that the run wrote."""
    lines = [json.loads(line) for line in (folder / RUN_FILE).read_text("ascii").splitlines()]
    return [line for line in lines if line["kind"] == kind]


def data_of(page: Path) -> dict[str, Any]:
    """Return the data of a page."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"))
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def shown_in(folder: Path) -> list[dict[str, Any]]:
    """Return the tests that the page of the run has."""
    tests: list[dict[str, Any]] = data_of(folder / INDEX_FILE)["tests"]
    return tests


def test_each_test_has_a_line_and_a_place_on_the_page(pytester: pytest.Pytester, run: Run) -> None:
    """Outcome, phases, device, error, evidence and markers of each test are written down."""
    pytester.makeini("[pytest]\nmarkers = slow")

    result = run(*QUICK, "--junitxml=junit.xml", suite=TESTS)

    folder = run_of(pytester)
    tests = {test["nodeid"].rpartition("::")[2]: test for test in lines_of(folder, "test")}
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
    assert tests["test_bad_start"]["error"] == {"message": "no start", "phase": "setup"}
    assert not [name for name in ("test_skipped", "test_known") if "error" in tests[name]]
    assert "devices" not in tests["test_without_a_device"]
    (device,) = lines_of(folder, "device")
    assert failed["devices"] == [device["serial"]]
    assert device["about"]["model"]
    assert f"claw-results/{folder.name}/{INDEX_FILE}" in result.outlines

    (shown,) = [test for test in shown_in(folder) if test["nodeid"] == failed["nodeid"]]
    page = folder / shown["page"]
    assert (page, page.parent) == (folder / failed["page"], folder / failed["folder"])
    assert 'id="data"' in page.read_text("utf-8")
    path = page.relative_to(pytester.path)
    result.stdout.fnmatch_lines([str(path.parent), "  trace.html"])
    junit = (pytester.path / "junit.xml").read_text("utf-8")
    assert f'name="clawperator_trace" value="{path}"' in junit


@pytest.mark.parametrize("options", [[], ["--claw-trace=off"]], ids=["no device", "no traces"])
def test_without_a_device_or_traces_nothing_is_written(
    pytester: pytest.Pytester, run: Run, options: list[str]
) -> None:
    """Such a run leaves no folder."""
    uses_device = "clawperator" if options else ""
    text = f"import pytest_clawperator\n\ndef test_it({uses_device}):\n    assert 0"

    run(*QUICK, *options, suite=text).assert_outcomes(failed=1)

    assert not (pytester.path / "claw-results").exists()


def report(when: Any, *, outcome: Any = "passed", start: float = 1.0) -> pytest.TestReport:
    """Return the report of a phase."""
    return pytest.TestReport(
        nodeid="test_it",
        location=("", None, ""),
        keywords={},
        outcome=outcome,
        longrepr="it broke" if outcome == "failed" else None,
        when=when,
        start=start,
    )


def records(*reports: pytest.TestReport) -> list[TraceEvent]:
    """Return the lines that reports make."""
    attempts = AttemptReports(lambda folder: folder)
    return [line for one in reports for line in attempts.add(one)]


def test_a_test_that_did_not_begin_here_has_moved() -> None:
    """It was not run, so it is no attempt."""
    (moved,) = records(report("setup"), report("teardown"))

    assert isinstance(moved, TestMoved)


@pytest.mark.parametrize("call", ["passed", "failed"])
def test_what_follows_the_end_of_a_test_belongs_to_its_attempt(call: str) -> None:
    """The release of a device in a run that was interrupted, for example."""
    phases = (report("setup"), report("call", outcome=call), report("teardown"))

    ended, again = records(*phases, report("teardown", outcome="failed", start=9.0))

    assert isinstance(ended, TestEnded)
    assert isinstance(again, TestEnded)
    assert (ended.outcome, ended.attempt, ended.start) == (call, 1, 1.0)
    bad = "failed" if call == "failed" else "error"
    assert (again.outcome, again.attempt, again.start) == (bad, 1, 1.0)


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
    page = folder / test["page"]
    assert (page.parts[-3], page.is_file()) == ("unfinished", True)
    trace = read_trace(page.parent)
    assert trace.end is None
    assert list(trace.of_kind("execution"))[-1]["title"] == "open_app 'com.android.settings'"


def test_a_run_that_is_stopped_has_an_index(pytester: pytest.Pytester, run: Run) -> None:
    """What ended before is written down, and the page is there."""
    run(
        *QUICK,
        suite="""
        import pytest

        def test_before(clawperator):
            clawperator.home()

        def test_stops(clawperator):
            clawperator.home()
            pytest.exit("enough")
        """,
    )

    assert [test["outcome"] for test in shown_in(run_of(pytester))] == ["passed", "broken off"]


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
    passed = json.loads(gzip.decompress(base64.b64decode(data_of(page)["passed"])))
    assert passed["events"][-1]["outcome"] == "passed"


def test_a_full_disk_costs_the_index_and_no_test(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary says why there is none."""

    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(RunLog, "open", full)

    result = run(*QUICK, suite="def test_it(clawperator): pass")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*no index of the run: *No space left on device"])
    assert not list(pytester.path.rglob(INDEX_FILE))
