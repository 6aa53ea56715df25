"""Pictures after executions: the test goes on as soon as the screen is captured."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from pytest_clawperator.errors import EnvelopeTimeoutError
from pytest_clawperator.plugin import trace_pictures
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.report_sinks import ReportSinks, TraceOutput
from pytest_clawperator.plugin.trace_pictures import PictureTaker
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
    """Prints the beginning of each picture at once, and the rest when it is let."""

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
        self.looks = threading.Event()
        client: Any = SimpleNamespace(serial="PH1", runner=None, execute=self._look)
        self.client = Near(client)
        self.client.transport = self.phone
        self.output = TraceOutput(TraceWriter(folder), ReportSinks([], lambda *_: None))
        self.taker = PictureTaker(self.output)

    def _look(self, *_: object, **__: object) -> None:
        self.looks.wait(DEADLINE)
        raise EnvelopeTimeoutError("no envelope", serial="PH1")

    def waiting(self) -> threading.Thread:
        """Return a thread that waits as the next execution does."""
        thread = threading.Thread(target=self.taker.wait, args=(self.client,), daemon=True)
        thread.start()
        return thread

    def told(self) -> list[dict[str, Any]]:
        """End the trace and return its events."""
        self.taker.close()
        lines = (self.folder / EVENTS_FILE).read_text(encoding="ascii").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """Return a scene in which nobody is left waiting."""
    made = Scene(tmp_path / "trace")
    yield made
    for event in (made.phone.captures, made.phone.prints, made.looks):
        event.set()
    made.taker.close()


def test_the_next_execution_waits_for_the_beginning_alone(scene: Scene) -> None:
    """The screen may change while the phone still prints what it captured."""
    scene.phone.prints.clear()

    scene.taker.take(scene.client, 7, None)
    scene.taker.wait(scene.client)
    scene.phone.picture = png(200)
    scene.phone.prints.set()

    (picture,) = scene.told()
    assert (picture["kind"], picture["execution"], picture["size"]) == ("picture", 7, [648, 360])


def test_the_next_execution_waits_until_the_screen_is_captured(scene: Scene) -> None:
    """Else the picture might show what the next execution did."""
    scene.phone.captures.clear()
    scene.taker.take(scene.client, 7, None)

    waiting = scene.waiting()
    waiting.join(SHORT)
    assert waiting.is_alive()
    scene.phone.captures.set()
    waiting.join(DEADLINE)

    assert not waiting.is_alive()
    assert [event["kind"] for event in scene.told()] == ["picture"]


def test_a_screen_with_secrets_stays_until_a_look_found_them(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is to be blackened is known only after a look; without one there is no picture."""
    monkeypatch.setattr(SECRETS, "secrets", Secrets(frozenset({"swordfish"}), on_screen=True))
    scene.taker.take(scene.client, 7, None)

    waiting = scene.waiting()
    waiting.join(SHORT)
    assert waiting.is_alive()
    scene.looks.set()
    waiting.join(DEADLINE)

    (note,) = scene.told()
    assert note["message"].startswith("no picture: it may show a secret, and it is not known where")


def test_a_secret_that_is_typed_later_needs_no_look(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture is of the screen before it, and the device is busy by then."""
    scene.phone.prints.clear()
    scene.taker.take(scene.client, 7, None)
    scene.taker.wait(scene.client)

    monkeypatch.setattr(SECRETS, "secrets", Secrets(frozenset({"swordfish"}), on_screen=True))
    scene.phone.prints.set()

    assert [event["kind"] for event in scene.told()] == ["picture"]


def test_a_picture_that_comes_too_late_is_not_shown(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may show what the next execution did."""
    monkeypatch.setattr(trace_pictures, "_WITHIN", 0.01)
    scene.phone.captures.clear()
    scene.taker.take(scene.client, 7, None)
    scene.taker.wait(scene.client)

    monkeypatch.setattr(trace_pictures, "_WITHIN", DEADLINE)
    scene.phone.captures.set()

    (note,) = scene.told()
    assert note["message"] == "no picture: the test went on before it was taken"


def test_equal_screens_share_one_picture(scene: Scene) -> None:
    """Each execution has a picture, and the trace has each once."""
    for number, shade in enumerate((0, 0, 90, 0)):
        scene.phone.picture = png(shade)
        scene.taker.take(scene.client, number, None)
        scene.taker.wait(scene.client)

    told = {event["execution"]: event["blob"] for event in scene.told()}
    assert sorted(told) == [0, 1, 2, 3]
    assert told[0] == told[1] == told[3] != told[2]
    assert len(list((scene.folder / "blobs").iterdir())) == 2


def test_only_some_pictures_are_under_way_at_once(scene: Scene) -> None:
    """A phone that prints slowly holds up the test, and no memory is filled with pictures."""
    scene.phone.prints.clear()
    for number in range(trace_pictures._AT_ONCE):
        scene.taker.take(scene.client, number, None)

    next_one = threading.Thread(target=scene.taker.take, args=(scene.client, 99, None), daemon=True)
    next_one.start()
    next_one.join(SHORT)
    assert next_one.is_alive()
    scene.phone.prints.set()
    next_one.join(DEADLINE)

    assert [event["kind"] for event in scene.told()] == ["picture"] * (trace_pictures._AT_ONCE + 1)
