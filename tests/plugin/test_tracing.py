"""Traces: written while a test runs, kept as asked, readable whatever happens; their pictures."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from pytest_clawperator.errors import EnvelopeTimeoutError
from pytest_clawperator.pictures import smaller
from pytest_clawperator.plugin import recorder, tracing
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.report_sinks import ReportSinks, TraceOutput
from pytest_clawperator.plugin.tracing import UNFINISHED, PictureTaker
from pytest_clawperator.redaction import SECRETS, Secrets
from pytest_clawperator.report.trace import EVENTS_FILE, Trace, TraceWriter, read_trace
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import OnOutput, ignored
from tests.doubles.transport import ScriptedTransport
from tests.plugin.conftest import QUICK, Run

TESTS = """
import time

import pytest
from pytest_clawperator import expect

CLICK = {"id": "tap", "type": "click", "params": {"matcher": {"textEquals": "nowhere"}}}

@pytest.fixture
def settings(clawperator):
    clawperator.close_app("com.android.settings")
    clawperator.open_app("com.android.settings")
    return clawperator

def test_passes(settings):
    settings.click(text="Connections")

def test_fails(settings):
    with settings.step("Connections"):
        with settings.step("Wi-Fi"):
            settings.click(text="Connections")
        expect(settings.node(text="Wi-Fi")).to_be_visible()
    expect(settings.node(text="nowhere")).to_be_visible(timeout=0.3)

def test_skips(clawperator):
    clawperator.home()
    pytest.skip("no SIM card")

def test_executes(clawperator):
    assert not clawperator.execute([CLICK]).ok

def test_types(settings):
    settings.click(desc="Search settings")
    settings.enter_text("swordfish-42", role="textfield", secret=True)
    assert settings.snapshot().find(text="swordfish-42")

def test_without_a_device():
    assert 0
"""


def traces(pytester: pytest.Pytester, where: str = "*/*/trace") -> dict[str, Trace]:
    """Return the traces of a run, each by its test."""
    found = map(read_trace, sorted((pytester.path / "claw-results").glob(where)))
    return {trace.head["nodeid"].rpartition("::")[2]: trace for trace in found}


def titles(trace: Trace) -> list[str]:
    """Return the titles of the call, indented as they are nested."""
    kinds = ("step", "execution", "expectation")
    events = [event for event in trace.events if event["kind"] in kinds]
    parents = {event["id"]: event.get("parent") for event in events}

    def depth(number: int | None) -> int:
        return 0 if number is None else 1 + depth(parents.get(number))

    return [
        "  " * depth(event.get("parent")) + event["title"]
        for event in events
        if event.get("source", {}).get("function") == "test_fails"
    ]


def test_a_trace_has_what_happened(pytester: pytest.Pytester, run: Run) -> None:
    """Steps with their lines, screens and pictures, expectations, fixtures, errors, the outcome."""
    result = run(*QUICK, "--claw-trace=on", suite=TESTS)

    result.assert_outcomes(passed=3, failed=2, skipped=1)
    found = traces(pytester)
    assert len(found) == 5

    failed = found["test_fails"]
    assert titles(failed) == [
        "Connections",
        "  Wi-Fi",
        "    click text='Connections'",
        "    snapshot_ui",
        "  expect node(text='Wi-Fi') to be visible",
        "  snapshot_ui",
        "expect node(text='nowhere') to be visible",
    ]
    click = next(e for e in failed.of_kind("execution") if e["title"] == "click text='Connections'")
    assert click["source"]["text"] == 'settings.click(text="Connections")'
    assert click["payload"]["actions"][0]["params"]["matcher"] == {"textEquals": "Connections"}
    ended = {event["id"]: event for event in failed.of_kind("execution-end")}
    assert ended[click["id"]]["envelope"]["status"] == "success"
    screens = [event["after"] for event in ended.values() if "after" in event]
    assert b'text="Wi-Fi"' in (failed.blob(screens[-1]) or b"")
    assert any("[Clawperator-Result]" in line for e in failed.of_kind("log") for line in e["lines"])
    (error,) = failed.of_kind("error")
    assert error["failure"]["code"] == "EXPECTATION_FAILED"
    excerpt = error["excerpt"]
    line = excerpt["lines"][excerpt["source"]["line"] - excerpt["first"]]
    assert line.strip() == 'expect(settings.node(text="nowhere")).to_be_visible(timeout=0.3)'
    expected = next(event for event in failed.of_kind("expectation") if "failure" in event)
    assert len(expected["polls"]) > 1
    assert {poll["found"] for poll in expected["polls"]} == {"no match"}
    fixtures = [(event["name"], event["stage"]) for event in failed.of_kind("fixture")]
    assert {("settings", "setup"), ("settings", "teardown")} <= {*fixtures}

    ends = {name: trace.end or {} for name, trace in found.items()}
    assert ends["test_fails"]["reason"].startswith("expected node(text='nowhere') to be visible")
    assert {name: end["outcome"] for name, end in ends.items()} == {
        "test_executes": "passed",
        "test_fails": "failed",
        "test_passes": "passed",
        "test_skips": "skipped",
        "test_types": "passed",
    }
    assert ends["test_skips"]["reason"] == "no SIM card"

    outcomes = found["test_executes"].of_kind("execution-end")
    (failure,) = [event["failure"] for event in outcomes if "failure" in event]
    assert failure["code"] == "NODE_NOT_FOUND"
    assert "tap (click)" in failure["message"]
    kept = (pytester.path / "claw-results").glob("*/*test_types*/**/*")
    assert not [path for path in kept if path.is_file() and b"swordfish" in path.read_bytes()]

    passed = found["test_passes"]
    pictures = {event["execution"]: event for event in passed.of_kind("picture")}
    executions = [event["id"] for event in passed.of_kind("execution")]
    assert sorted(pictures) == executions
    picture = pictures[executions[-1]]
    assert picture["size"][0] == 360
    assert (passed.blob(picture["blob"]) or b"")[8:12] == b"WEBP"


def test_by_default_each_failed_attempt_has_a_trace(pytester: pytest.Pytester, run: Run) -> None:
    """A test that passed has none, with ``off`` no test has one, and nothing else is left."""
    options = (*QUICK, "-p", "pytest_rerunfailures", "--reruns=1")
    # A test that replaces the time of Python has a trace with the time of the machine.
    suite = """
import time

def test_passes(clawperator): pass

def test_fails(clawperator, monkeypatch):
    clawperator.home()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    assert 0
"""

    run(*options, "--claw-trace=off", suite=suite)
    without = traces(pytester, "**/trace")
    result = run(*options)

    assert without == {}
    result.stdout.fnmatch_lines(["claw-results*test_fails*", "  trace.html"])
    folder = pytester.path / "claw-results"
    found = [read_trace(path) for path in sorted(folder.glob("**/trace"))]
    assert [trace.head["attempt"] for trace in found] == [1, 2]
    assert [len(list(trace.of_kind("error"))) for trace in found] == [1, 1]
    times = [event["at"] for trace in found for event in trace.events]
    assert max(times) - min(times) < 600
    assert not list(folder.glob(f"*/{UNFINISHED}"))


def test_a_picture_shows_what_its_own_execution_left(pytester: pytest.Pytester, run: Run) -> None:
    """The next execution, which changes the screen immediately, is not on it."""
    result = run(
        *(*QUICK, "--claw-trace=on"),
        suite="""
        def test_moves(clawperator):
            clawperator.open_app("com.android.settings")
            for number in range(5):
                clawperator.click(text="Connections")
                clawperator.back()
            clawperator.screenshot("list.png")
            clawperator.click(text="Connections")
            clawperator.screenshot("connections.png")
        """,
    )

    result.assert_outcomes(passed=1)
    trace = traces(pytester)["test_moves"]
    shown = {event["execution"]: event["blob"] for event in trace.of_kind("picture")}
    executions = {event["id"]: event["title"] for event in trace.of_kind("execution")}
    after = {
        title: {shown[number] for number, one in executions.items() if one == title}
        for title in ("click text='Connections'", "press_key 'back'")
    }
    files = [(pytester.path / f"{name}.png").read_bytes() for name in ("connections", "list")]
    assert [trace.blob(*blobs) for blobs in after.values()] == [smaller(one)[0] for one in files]


def test_an_interrupted_test_did_not_pass(
    pytester: pytest.Pytester, phone: AdbTransport, adb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C leaves a trace without an outcome; no evidence is collected from the device."""
    collected: list[object] = []
    monkeypatch.setattr(recorder, "collect", lambda *_, **__: collected.append(1))
    pytester.makepyfile(
        """
        def test_hangs(clawperator):
            clawperator.open_app("com.android.settings")
            raise KeyboardInterrupt
        """
    )
    device = ("--claw-device", phone.serial, "--claw-adb", adb)

    result = pytester.runpytest_inprocess(*device, "--claw-trace=on", no_reraise_ctrlc=True)

    assert (result.ret, collected) == (pytest.ExitCode.INTERRUPTED, [])
    assert traces(pytester, f"*/{UNFINISHED}/*")["test_hangs"].end is None


# Pictures

DEADLINE = 20.0
# Long enough for a thread that does not wait to be over.
SHORT = 0.2


def png(shade: int = 0) -> bytes:
    """Return a picture of one shade."""
    buffer = io.BytesIO()
    Image.new("RGB", (1080, 600), (shade, 0, 0)).save(buffer, "PNG")
    return buffer.getvalue()


class Phone(ScriptedTransport):
    """Prints the beginning of each picture immediately, and the rest when it may."""

    def __init__(self) -> None:
        super().__init__({})
        self.picture = png()
        self.captures, self.prints = threading.Event(), threading.Event()
        self.captures.set()
        self.prints.set()

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Print a picture."""
        picture = self.picture
        self.captures.wait(DEADLINE)
        on_output(picture[:40])
        self.prints.wait(DEADLINE)
        return picture


class Near(ClientActivity):
    """A client whose phone is the one of the test."""

    transport: Phone = Phone()


class Scene:
    """A phone, its client, and the trace that gets the pictures."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.phone = Phone()
        self.may_answer = threading.Event()
        client: Any = SimpleNamespace(serial="PH1", runner=None, execute=self._execute)
        self.client = Near(client)
        self.client.transport = self.phone
        self.output = TraceOutput(TraceWriter(folder), ReportSinks([], lambda *_: None))
        self.taker = PictureTaker(self.output)

    def _execute(self, *_: object, **__: object) -> None:
        self.may_answer.wait(DEADLINE)
        raise EnvelopeTimeoutError("no envelope", serial="PH1")

    def take(self, number: int = 7) -> None:
        """Take the picture after an execution."""
        self.taker.take(self.client, number, None)

    def wait(self) -> None:
        """Wait as the next execution does."""
        self.taker.wait(self.client)

    def assert_blocked(self, work: Callable[[], None], event: threading.Event) -> None:
        """Check that something waits until the event is set, and no longer."""
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(SHORT)
        assert thread.is_alive()
        event.set()
        thread.join(DEADLINE)
        assert not thread.is_alive()

    def events(self) -> list[dict[str, Any]]:
        """End the trace and return its events."""
        self.taker.close()
        lines = (self.folder / EVENTS_FILE).read_text(encoding="ascii").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """Return a scene in which no thread is left waiting."""
    made = Scene(tmp_path / "trace")
    yield made
    for event in (made.phone.captures, made.phone.prints, made.may_answer):
        event.set()
    made.taker.close()


def reveal_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let something secret be on the screen."""
    monkeypatch.setattr(SECRETS, "secrets", Secrets(frozenset({"swordfish"}), on_screen=True))


def test_the_next_execution_waits_for_the_beginning_alone(scene: Scene) -> None:
    """The screen may change while the phone still prints what it captured."""
    scene.phone.prints.clear()

    scene.take()
    scene.wait()
    scene.phone.picture = png(200)
    scene.phone.prints.set()

    (picture,) = scene.events()
    assert (picture["kind"], picture["execution"], picture["size"]) == ("picture", 7, [648, 360])


def test_the_next_execution_waits_until_the_screen_is_captured(scene: Scene) -> None:
    """Else the picture might show what the next execution did."""
    scene.phone.captures.clear()
    scene.take()

    scene.assert_blocked(scene.wait, scene.phone.captures)

    assert [event["kind"] for event in scene.events()] == ["picture"]


def test_a_screen_with_secrets_stays_until_a_snapshot_shows_them(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is to be blackened is known only then; without a snapshot there is no picture."""
    reveal_secret(monkeypatch)
    scene.take()

    scene.assert_blocked(scene.wait, scene.may_answer)

    (note,) = scene.events()
    assert note["message"].startswith("no picture: it may show a secret, and it is not known where")


def test_a_secret_that_is_typed_later_needs_no_snapshot(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture is of the screen before it, and the device is busy by then."""
    scene.phone.prints.clear()
    scene.take()
    scene.wait()

    reveal_secret(monkeypatch)
    scene.phone.prints.set()

    assert [event["kind"] for event in scene.events()] == ["picture"]


def test_a_picture_that_comes_too_late_is_not_shown(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may show what the next execution did."""
    monkeypatch.setattr(tracing, "_WITHIN", 0.01)
    scene.phone.captures.clear()
    scene.take()
    scene.wait()

    monkeypatch.setattr(tracing, "_WITHIN", DEADLINE)
    scene.phone.captures.set()

    (note,) = scene.events()
    assert note["message"] == "no picture: the test went on before it was taken"


def test_equal_screens_share_one_picture(scene: Scene) -> None:
    """Each execution has a picture, and the trace has each once."""
    for number, shade in enumerate((0, 0, 90, 0)):
        scene.phone.picture = png(shade)
        scene.take(number)
        scene.wait()

    blobs = {event["execution"]: event["blob"] for event in scene.events()}
    assert sorted(blobs) == [0, 1, 2, 3]
    assert blobs[0] == blobs[1] == blobs[3] != blobs[2]
    assert len(list((scene.folder / "blobs").iterdir())) == 2


def test_only_some_pictures_are_under_way_together(scene: Scene) -> None:
    """A phone that prints slowly holds up the test, and no memory is filled with pictures."""
    scene.phone.prints.clear()
    for number in range(tracing._AT_ONCE):
        scene.take(number)

    scene.assert_blocked(scene.take, scene.phone.prints)

    assert [event["kind"] for event in scene.events()] == ["picture"] * (tracing._AT_ONCE + 1)
