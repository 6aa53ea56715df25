"""``--claw-trace``: written while a test runs, kept as asked, readable whatever happens."""

from __future__ import annotations

import signal

import pytest

from pytest_clawperator.pictures import smaller
from pytest_clawperator.plugin.tracing import UNFINISHED
from pytest_clawperator.report.trace import Trace, read_trace
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run

TESTS = """
    import pytest
    from pytest_clawperator import expect

    @pytest.fixture
    def settings(clawperator):
        clawperator.open_app("com.android.settings")
        return clawperator

    def test_passes(settings):
        settings.click(text="Connections")

    def test_fails(settings):
        with settings.step("Connections"):
            with settings.step("Wi-Fi"):
                settings.click(text="Connections")
            expect(settings.node(text="Wi-Fi")).to_be_visible()
        expect(settings.node(text="nowhere")).to_be_visible(timeout=0.1)

    def test_without_a_device():
        assert 0

    def test_skips(clawperator):
        clawperator.home()
        pytest.skip("no SIM card")

    def test_executes(clawperator):
        click = {"id": "tap", "type": "click", "params": {"matcher": {"textEquals": "nowhere"}}}
        assert not clawperator.execute([click]).ok
"""

QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")


def traces(pytester: pytest.Pytester, where: str = "*/*/trace") -> dict[str, Trace]:
    """Return the traces of a run, each after its test."""
    found = map(read_trace, sorted((pytester.path / "claw-results").glob(where)))
    return {trace.head["nodeid"].rpartition("::")[2]: trace for trace in found}


def titles(trace: Trace) -> list[str]:
    """Return the titles of what was called in the test, indented as they are nested."""
    events = [
        event for event in trace.events if event["kind"] in ("step", "execution", "expectation")
    ]
    parents = {event["id"]: event.get("parent") for event in events}

    def depth(number: int | None) -> int:
        return 0 if number is None else 1 + depth(parents.get(number))

    return [
        "  " * depth(event.get("parent")) + event["title"]
        for event in events
        if event.get("source", {}).get("function") == "test_fails"
    ]


def test_the_trace_of_a_failed_test_is_kept(pytester: pytest.Pytester, run: Run) -> None:
    """With steps, lines, screens and checks; a test that passed has none, and nothing is left."""
    pytester.makepyfile(TESTS)

    result = run(*QUICK)

    result.assert_outcomes(passed=2, failed=2, skipped=1)
    result.stdout.fnmatch_lines(["claw-results*test_fails*", "  trace.html"])
    assert list(traces(pytester)) == ["test_fails"]
    assert not list((pytester.path / "claw-results").glob(f"*/{UNFINISHED}"))
    trace = traces(pytester)["test_fails"]
    assert titles(trace) == [
        "Connections",
        "  Wi-Fi",
        "    click text='Connections'",
        "    snapshot_ui",
        "  expect node(text='Wi-Fi') to be visible",
        "  snapshot_ui",
        "expect node(text='nowhere') to be visible",
    ]
    click = next(e for e in trace.of_kind("execution") if e["title"] == "click text='Connections'")
    assert click["source"]["text"] == 'settings.click(text="Connections")'
    assert click["payload"]["actions"][0]["params"]["matcher"] == {"textEquals": "Connections"}
    ended = {event["id"]: event for event in trace.of_kind("execution-end")}
    assert ended[click["id"]]["envelope"]["status"] == "success"
    screens = [event["after"] for event in ended.values() if "after" in event]
    assert b'text="Wi-Fi"' in (trace.blob(screens[-1]) or b"")
    assert any("[Clawperator-Result]" in line for e in trace.of_kind("log") for line in e["lines"])
    (error,) = trace.of_kind("error")
    assert error["failure"]["code"] == "EXPECTATION_FAILED"
    excerpt = error["excerpt"]
    line = excerpt["lines"][excerpt["source"]["line"] - excerpt["first"]]
    assert line.strip() == 'expect(settings.node(text="nowhere")).to_be_visible(timeout=0.1)'
    failed = next(event for event in trace.of_kind("expectation") if "failure" in event)
    assert len(failed["polls"]) > 1
    assert {poll["found"] for poll in failed["polls"]} == {"no match"}
    fixtures = [(event["name"], event["stage"]) for event in trace.of_kind("fixture")]
    assert ("settings", "setup") in fixtures
    assert ("settings", "teardown") in fixtures
    assert trace.end is not None
    assert trace.end["outcome"] == "failed"
    assert trace.end["reason"].startswith("expected node(text='nowhere') to be visible")


def test_on_keeps_every_trace_with_pictures(pytester: pytest.Pytester, run: Run) -> None:
    """Each test with a device has a trace, and each action a small picture."""
    pytester.makepyfile(TESTS)

    run(*QUICK, "--claw-trace=on")

    found = traces(pytester)
    assert sorted(found) == ["test_executes", "test_fails", "test_passes", "test_skips"]
    trace = found["test_passes"]
    pictures = {event["execution"]: event for event in trace.of_kind("picture")}
    executions = [event["id"] for event in trace.of_kind("execution")]
    assert sorted(pictures) == executions
    picture = pictures[executions[-1]]
    assert picture["size"][0] == 360
    assert (trace.blob(picture["blob"]) or b"")[8:12] == b"WEBP"
    end = found["test_skips"].end
    assert end is not None
    assert (end["outcome"], end["reason"]) == ("skipped", "no SIM card")
    # An execution that failed without raising has its reason.
    ended = found["test_executes"].of_kind("execution-end")
    (failure,) = [event["failure"] for event in ended if "failure" in event]
    assert failure["code"] == "NODE_NOT_FOUND"
    assert "tap (click)" in failure["message"]


def test_a_picture_shows_what_its_own_execution_left(pytester: pytest.Pytester, run: Run) -> None:
    """The next execution, which changes the screen immediately, is not on it."""
    pytester.makepyfile(
        """
        def test_moves(clawperator):
            clawperator.open_app("com.android.settings")
            for number in range(5):
                clawperator.click(text="Connections")
                clawperator.back()
            clawperator.screenshot("list.png")
            clawperator.click(text="Connections")
            clawperator.screenshot("connections.png")
        """
    )

    run(*QUICK, "--claw-trace=on").assert_outcomes(passed=1)

    trace = traces(pytester)["test_moves"]
    shown = {event["execution"]: event["blob"] for event in trace.of_kind("picture")}
    executions = {event["id"]: event["title"] for event in trace.of_kind("execution")}
    after = {
        title: {shown[number] for number, one in executions.items() if one == title}
        for title in ("click text='Connections'", "press_key 'back'")
    }
    files = [(pytester.path / f"{name}.png").read_bytes() for name in ("connections", "list")]
    assert [trace.blob(*blobs) for blobs in after.values()] == [smaller(one)[0] for one in files]


def test_off_writes_no_trace(pytester: pytest.Pytester, run: Run) -> None:
    """With ``off`` there is no trace of any test."""
    pytester.makepyfile(TESTS)

    run(*QUICK, "-k", "executes or skips", "--claw-trace=off")

    assert traces(pytester) == {}


def test_each_attempt_has_its_own_trace(pytester: pytest.Pytester, run: Run) -> None:
    """A test that is rerun has the trace of each attempt that failed."""
    pytester.makepyfile(TESTS)

    run(*QUICK, "-k", "test_fails", "-p", "pytest_rerunfailures", "--reruns=1")

    folder = pytester.path / "claw-results"
    found = [read_trace(path) for path in sorted(folder.glob("*/*/attempt-*/trace"))]
    assert [trace.head["attempt"] for trace in found] == [1, 2]
    assert [len(list(trace.of_kind("error"))) for trace in found] == [1, 1]


def test_a_killed_worker_leaves_what_it_did(pytester: pytest.Pytester, run_workers: Run) -> None:
    """Of a test whose process was killed, the trace up to then is there and can be read."""
    pytester.makepyfile(
        f"""
        import os

        def test_dies(clawperator):
            clawperator.open_app("com.android.settings")
            os.kill(os.getpid(), {int(signal.SIGKILL)})
        """
    )

    run_workers("-n1", "--claw-device=sim", *QUICK, "--max-worker-restart=0")

    trace = traces(pytester, f"*/{UNFINISHED}/*")["test_dies"]
    assert trace.end is None
    assert list(trace.of_kind("execution"))[-1]["title"] == "open_app 'com.android.settings'"


def test_an_interrupted_test_did_not_pass(
    pytester: pytest.Pytester, phone: AdbTransport, adb: str
) -> None:
    """Ctrl-C in a test leaves a trace without an outcome."""
    pytester.makepyfile(
        """
        def test_hangs(clawperator):
            clawperator.open_app("com.android.settings")
            raise KeyboardInterrupt
        """
    )

    device = ("--claw-device", phone.serial, "--claw-adb", adb)
    pytester.runpytest_inprocess(*device, *QUICK, "--claw-trace=on", no_reraise_ctrlc=True)

    assert traces(pytester, f"*/{UNFINISHED}/*")["test_hangs"].end is None


def test_a_secret_is_in_no_file_of_a_trace(pytester: pytest.Pytester, run: Run) -> None:
    """What is typed as a secret stands in no line and no screen, also if that failed."""
    pytester.makepyfile(
        """
        def test_types(clawperator):
            clawperator.open_app("com.android.settings")
            clawperator.click(desc="Search settings")
            clawperator.enter_text("swordfish-42", role="textfield", secret=True)
            assert clawperator.snapshot().find(text="swordfish-42")
            assert 0
        """
    )

    result = run(*QUICK, "--claw-trace=on")

    result.stdout.fnmatch_lines(["E*assert 0"])
    files = [path for path in (pytester.path / "claw-results").rglob("*") if path.is_file()]
    assert any(path.name == "trace.jsonl" for path in files)
    assert not [path for path in files if b"swordfish-42" in path.read_bytes()]


def test_a_test_may_stop_the_clock(pytester: pytest.Pytester, run: Run) -> None:
    """A test that replaces the time of Python has a trace with the time of the machine."""
    pytester.makepyfile(
        """
        import time

        def test_without_time(clawperator, monkeypatch):
            clawperator.home()
            monkeypatch.setattr(time, "time", lambda: 1 / 0)
            monkeypatch.setattr(time, "monotonic", lambda: 1 / 0)
            assert 0
        """
    )

    result = run(*QUICK)

    result.assert_outcomes(failed=1)
    times = [event["at"] for event in traces(pytester)["test_without_time"].events]
    assert max(times) - min(times) < 600
