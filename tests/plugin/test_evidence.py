"""Evidence from devices that do not give it, and from those that give it in another way."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.contracts.events import ArtifactMade, ExecutionFinished
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.errors import DeviceUnavailableError, EnvelopeTimeoutError
from pytest_clawperator.execution.crashes import AppWatch
from pytest_clawperator.execution.result import AppsSeen
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.evidence import collect
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.tree import Snapshot
from pytest_clawperator.transport.interface import OnOutput, ShellResult, ignored
from tests.doubles.host import Reply, answer, envelope, running_host
from tests.doubles.transport import ScriptedTransport
from tests.plugin.conftest import Run, kept

ALL = ("screenshot", "snapshot", "log", "envelopes")
EXECUTED = ExecutionFinished(
    serial="PH1",
    at=0,
    execution=complete_execution([{"id": "a", "type": "press_key", "params": {"key": "home"}}]),
    elapsed=0.5,
)
PNG = b"\x89PNG\r\n\x1a\n"
LOGIN = b'<hierarchy><node password="true" bounds="[0,0][9,9]" /></hierarchy>'


def watched(**methods: Any) -> ClientActivity:
    """Watch a client behind another host that has these methods."""
    performer = SimpleNamespace(apps=AppWatch(AppsSeen()))
    client: Any = SimpleNamespace(serial="PH1", runner=None, performer=performer, **methods)
    activity = ClientActivity(client)
    activity.begin()
    return activity


def gone(*_: object, **__: object) -> Any:
    """Raise that the device is gone."""
    raise DeviceUnavailableError("adb says: device offline", serial="PH1")


def test_what_takes_too_long_is_left_out_and_named() -> None:
    """A device that hangs keeps its evidence, and not the tests; the rest is there."""
    never = threading.Event()
    seen = watched(screenshot=never.wait)
    seen(EXECUTED)

    found = collect(seen, ALL, within=0.2)
    never.set()

    assert [piece.kind for piece in found.pieces] == ["envelopes"]
    assert found.missing[-2:] == [
        "no screenshot: the device did not give it within 0.2 s",
        "no snapshot: the device did not give it within 0.2 s",
    ]


def test_executions_for_evidence_are_not_the_tests_own() -> None:
    """Neither while it is collected, nor when one ends after that was given up."""
    late, over = threading.Event(), threading.Event()

    def screenshot() -> bytes:
        seen(EXECUTED)
        return b""

    def execute(*_: object, **__: object) -> None:
        late.wait(10)
        seen(EXECUTED)
        over.set()

    seen = watched(screenshot=screenshot, execute=execute)

    collect(seen, ["screenshot", "snapshot"], within=0.1)
    late.set()

    assert over.wait(10)
    assert (seen.timed, list(seen.executions)) == ([], [])


@pytest.mark.parametrize(
    ("methods", "kinds", "missing"),
    [
        (
            {"screenshot": gone, "execute": lambda *_, **__: 1 / 0},
            ALL,
            [
                "no log: the device is behind another host, which keeps its log",
                "no screenshot: DEVICE_OFFLINE: adb says: device offline",
                "no snapshot: ZeroDivisionError: division by zero",
            ],
        ),
        (
            {"screenshot": lambda: b"Error: full\n"},
            ["screenshot"],
            ["no screenshot: screencap gave no picture; it said: Error: full"],
        ),
    ],
    ids=["gone", "not a picture"],
)
def test_each_kind_says_why_it_is_missing(
    methods: dict[str, Any], kinds: list[str], missing: list[str]
) -> None:
    """Whatever is raised does not hide the failure that the evidence is about."""
    found = collect(watched(**methods), kinds)

    assert (found.pieces, found.missing) == ([], missing)


def test_an_empty_picture_is_checked_for_a_device_that_is_gone() -> None:
    """If nothing came, the device is asked once more."""

    class Gone(ScriptedTransport):
        def exec_out(
            self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
        ) -> bytes:
            return b""

        def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
            raise DeviceUnavailableError("adb says: device offline", serial="PH1")

    class Near(ClientActivity):
        transport = Gone()

    client: Any = SimpleNamespace(serial="PH1", runner=None)

    found = collect(Near(client), ["screenshot"])

    assert found.missing == ["no screenshot: DEVICE_OFFLINE: adb says: device offline"]


def test_the_last_screen_replaces_one_that_cannot_be_captured() -> None:
    """If the Operator is silent, the snapshot is the last that the test saw."""

    def silent(*_: object, **__: object) -> None:
        raise EnvelopeTimeoutError("no envelope within 6 s", serial="PH1")

    seen = watched(execute=silent)
    seen(
        ArtifactMade(serial="PH1", at=0, command_id="c", step_id="s", kind="snapshot", data=b"<x/>")
    )

    found = collect(seen, ["snapshot"])

    assert [(piece.content, piece.remark) for piece in found.pieces] == [
        (b"<x/>", "the last that the test saw: no envelope within 6 s")
    ]


def test_nothing_is_run_on_a_broken_device() -> None:
    """A device that failed already is not asked for a snapshot."""
    found = collect(watched(), ["snapshot"], is_broken=True)

    assert found.missing == ["no snapshot: the device does not answer"]


@pytest.mark.parametrize(
    ("secret", "last_screen", "is_kept"),
    [("", None, True), ("hunter2", None, False), ("", LOGIN, False)],
)
def test_no_picture_is_kept_that_may_show_a_secret(
    secret: str, last_screen: bytes | None, *, is_kept: bool
) -> None:
    """Without a snapshot that shows what to hide, a picture needs a test without secrets."""
    SECRETS.add(secret)
    seen = watched(screenshot=lambda: PNG)
    seen.snapshot = last_screen

    found = collect(seen, ["screenshot"], is_broken=True)

    assert [piece.content for piece in found.pieces] == ([PNG] if is_kept else [])
    why = "it may show a secret, and it is not known where: the device does not answer"
    assert found.missing == ([] if is_kept else [f"no screenshot: {why}"])


def test_no_picture_is_kept_that_cannot_be_blackened() -> None:
    """A picture that cannot be read is left out if a field must be hidden in it."""
    SECRETS.add("hunter2")
    result = SimpleNamespace(step=lambda _: SimpleNamespace(snapshot=Snapshot.from_xml(LOGIN)))
    result.raise_for_status = lambda: result

    found = collect(watched(screenshot=lambda: PNG, execute=lambda *_, **__: result), ALL)

    assert "the picture cannot be read" in found.missing[-1]
    assert [piece.kind for piece in found.pieces] == ["snapshot"]


def test_a_device_behind_another_host(pytester: pytest.Pytester, run_plain: Run) -> None:
    """The host gives the screen and its picture by executions, and keeps the log."""
    node = '<node index="0" class="android.widget.FrameLayout" bounds="[0,0][9,9]" />'
    screen = f'<hierarchy rotation="0">{node}</hierarchy>'
    picture = pytester.path / "shot.png"

    def run_steps(_: BaseHTTPRequestHandler, body: bytes) -> Reply:
        picture.write_bytes(PNG)
        data = {"snapshot_ui": {"text": screen}, "take_screenshot": {"path": str(picture)}}
        asked = json.loads(body)
        steps = [
            {
                "id": action["id"],
                "actionType": action["type"],
                "success": True,
                "data": data.get(action["type"], {}),
            }
            for action in asked["execution"]["actions"]
        ]
        command = asked["execution"]["commandId"]
        return Reply(body=answer(envelope(command, steps=steps), asked["deviceId"]))

    with running_host() as host:
        host.execute = run_steps
        result = run_plain(
            *("--claw-device", host.url),
            suite="def test_it(clawperator):\n    clawperator.home()\n    assert 0\n",
        )

    result.assert_outcomes(failed=1)
    found = kept(pytester)["test_it"]
    assert (found / "screenshot.png").read_bytes() == PNG
    assert (found / "snapshot.xml").read_text() == screen
    (sent,) = json.loads((found / "envelopes.json").read_bytes())
    assert sent["execution"]["actions"][0]["type"] == "press_key"
    result.stdout.fnmatch_lines(["no log: the device is behind another host, which keeps its log"])
