"""Pictures after executions: the test goes on as soon as the screen is captured."""

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
from pytest_clawperator.plugin import tracing
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.report_sinks import ReportSinks, TraceOutput
from pytest_clawperator.plugin.tracing import PictureTaker
from pytest_clawperator.redaction import SECRETS, Secrets
from pytest_clawperator.report.trace import EVENTS_FILE, TraceWriter
from pytest_clawperator.transport.interface import OnOutput, ignored
from tests.doubles.transport import ScriptedTransport

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
