"""Evidence from devices that do not give it, and from those that give it in another way."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.contracts.events import ArtifactMade, ExecutionFinished
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.errors import DeviceUnavailableError, EnvelopeTimeoutError
from pytest_clawperator.plugin.clients import ClientActivity, label_of
from pytest_clawperator.plugin.evidence import collect
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.tree import Snapshot
from pytest_clawperator.transport.interface import OnOutput, ShellResult, ignored
from tests.doubles.host import Reply, answer, envelope, running_host
from tests.doubles.transport import ScriptedTransport
from tests.plugin.conftest import Run

ALL = ("screenshot", "snapshot", "log", "envelopes")
EXECUTION = complete_execution(
    [{"id": "a", "type": "click", "params": {"matcher": {"textEquals": "Buy"}}}]
)


class Client(SimpleNamespace):
    """A client behind another host, whose methods are given."""

    serial = "PH1"
    runner = None


def watched(**methods: Any) -> ClientActivity:
    """Watch a client that has these methods."""
    client: Any = Client(**methods)
    activity = ClientActivity(client)
    activity.begin()
    return activity


def test_a_device_that_hangs() -> None:
    """What does not come in time is named, and the rest is there."""
    never = threading.Event()
    seen = watched(screenshot=never.wait)
    seen(ExecutionFinished(serial="PH1", at=0, execution=EXECUTION, elapsed=0.5))

    found = collect(seen, ALL, within=0.2)
    never.set()

    assert [piece.kind for piece in found.pieces] == ["envelopes"]
    assert found.missing[-2:] == [
        "no screenshot: the device did not give it within 0.2 s",
        "no snapshot: the device did not give it within 0.2 s",
    ]


def test_what_comes_late_is_not_the_tests() -> None:
    """A look that is over only after the evidence was given up is no action of the test."""
    late, over = threading.Event(), threading.Event()

    def look(*_: object, **__: object) -> None:
        late.wait(10)
        seen(ExecutionFinished(serial="PH1", at=0, execution=EXECUTION, elapsed=10.0))
        over.set()

    seen = watched(execute=look)

    collect(seen, ["snapshot"], within=0.05)
    late.set()

    assert over.wait(10)
    assert (seen.timed, list(seen.executions)) == ([], [])


def test_a_device_that_is_gone() -> None:
    """Each kind says why it is missing; whatever is raised stays inside."""

    def gone() -> bytes:
        raise DeviceUnavailableError("adb says: device offline", serial="PH1")

    found = collect(watched(screenshot=gone, execute=lambda *_, **__: 1 / 0), ALL)

    assert found.pieces == []
    assert found.missing == [
        "no log: the device is behind another host, which keeps its log",
        "no screenshot: DEVICE_OFFLINE: adb says: device offline",
        "no snapshot: ZeroDivisionError: division by zero",
    ]


def test_what_is_no_picture_is_not_kept() -> None:
    """What is no picture is not kept as one."""
    found = collect(watched(screenshot=lambda: b"Error: full\n"), ["screenshot"])

    assert found.missing == ["no screenshot: screencap gave no picture; it said: Error: full"]


def test_no_picture_of_a_device_that_is_gone() -> None:
    """Where nothing at all came, the device is asked once more: it may be gone."""

    class Gone(ScriptedTransport):
        def exec_out(
            self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
        ) -> bytes:
            return b""

        def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
            raise DeviceUnavailableError("adb says: device offline", serial="PH1")

    class Near(ClientActivity):
        transport = Gone()

    client: Any = Client()

    found = collect(Near(client), ["screenshot"])

    assert found.missing == ["no screenshot: DEVICE_OFFLINE: adb says: device offline"]


def test_the_last_screen_that_was_seen() -> None:
    """Where the Operator is silent, the screen that the test saw last has to do."""

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


PNG = b"\x89PNG\r\n\x1a\n"
LOGIN = b'<hierarchy><node password="true" bounds="[0,0][9,9]" /></hierarchy>'


@pytest.mark.parametrize(
    ("secret", "last_screen", "is_kept"),
    [("", None, True), ("hunter2", None, False), ("", LOGIN, False)],
)
def test_no_picture_that_may_show_a_secret(
    secret: str, last_screen: bytes | None, *, is_kept: bool
) -> None:
    """Where no look tells what to hide, a picture is kept only if there is no secret to show."""
    SECRETS.add(secret)
    seen = watched(screenshot=lambda: PNG)
    seen.snapshot = last_screen

    found = collect(seen, ["screenshot"], is_broken=True)

    assert [piece.content for piece in found.pieces] == ([PNG] if is_kept else [])
    why = "it may show a secret, and it is not known where: the device does not answer"
    assert found.missing == ([] if is_kept else [f"no screenshot: {why}"])


def test_no_picture_that_cannot_be_blackened() -> None:
    """A picture that cannot be read is not kept where a field must be hidden in it."""
    SECRETS.add("hunter2")
    screen = Snapshot.from_xml(LOGIN)
    looked = SimpleNamespace(step=lambda _: SimpleNamespace(snapshot=screen))
    looked.raise_for_status = lambda: looked

    found = collect(watched(screenshot=lambda: PNG, execute=lambda *_, **__: looked), ALL)

    assert "the picture cannot be read" in found.missing[-1]
    assert [piece.kind for piece in found.pieces] == ["snapshot"]


def test_nothing_is_run_on_a_broken_device() -> None:
    """A device that failed already is not asked to look at its screen."""
    found = collect(watched(), ["snapshot"], is_broken=True)

    assert found.missing == ["no snapshot: the device does not answer"]


def test_what_evidence_does_is_not_evidence() -> None:
    """Executions of the evidence itself are not taken for those of the test."""
    event = ExecutionFinished(serial="PH1", at=0, execution=EXECUTION, elapsed=0.5)

    def screenshot() -> bytes:
        seen(event)
        return b""

    seen = watched(screenshot=screenshot)

    collect(seen, ["screenshot"])

    assert list(seen.executions) == []


def test_an_execution_is_named_by_its_actions() -> None:
    """An execution is named by its actions, with matchers as a test writes them, in a few words."""
    matcher = {"role": "button", "textEquals": "Buy", "resourceId": "com.shop:id/buy"}
    button = complete_execution([{"type": "click", "params": {"matcher": matcher}}])
    many = complete_execution([{"id": str(n), "type": "snapshot_ui"} for n in range(9)])
    opens = complete_execution([{"type": "open_app", "params": {"applicationId": "com.shop"}}])

    labels = [label_of(one) for one in (EXECUTION, button, opens, many)]

    assert labels[:2] == ["click text='Buy'", "click text='Buy', id='buy', role='button'"]
    assert labels[2] == "open_app 'com.shop'"
    assert len(labels[3]) == 60
    assert labels[3].endswith("...")


def folder(pytester: pytest.Pytester) -> Path:
    """Give the only folder of a test."""
    (found,) = filter(Path.is_dir, (pytester.path / "claw-results").glob("*/*"))
    return found


def test_behind_another_host(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A host gives the screen and its picture by executions; it keeps the log, and that is told."""
    png = b"\x89PNG\r\n\x1a\n"
    node = '<node index="0" class="android.widget.FrameLayout" bounds="[0,0][9,9]" />'
    screen = f'<hierarchy rotation="0">{node}</hierarchy>'
    picture = pytester.path / "shot.png"

    def run_steps(_: BaseHTTPRequestHandler, body: bytes) -> Reply:
        picture.write_bytes(png)
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

    pytester.makepyfile("def test_it(clawperator):\n    clawperator.home()\n    assert 0\n")

    with running_host() as host:
        host.execute = run_steps
        result = run_plain("--claw-device", host.url)

    result.assert_outcomes(failed=1)
    found = folder(pytester)
    assert (found / "screenshot.png").read_bytes() == png
    assert (found / "snapshot.xml").read_text() == screen
    (told,) = json.loads((found / "envelopes.json").read_bytes())
    assert told["execution"]["actions"][0]["type"] == "press_key"
    result.stdout.fnmatch_lines(["no log: the device is behind another host, which keeps its log"])


def test_evidence_is_there_when_the_debugger_asks(pytester: pytest.Pytester, run: Run) -> None:
    """Whoever is asked by the debugger finds the evidence there already."""
    pytester.makepyfile(
        quick_pdb="""
        import pdb
        from pathlib import Path

        class Quick(pdb.Pdb):
            def interaction(self, *_):
                found = Path().glob("claw-results/*/test_it-*/*")
                print("found", sorted(path.name for path in found))
        """,
        test_it="def test_it(clawperator): assert 0",
    )
    pytester.syspathinsert()

    result = run("--pdb", "--pdbcls=quick_pdb:Quick", "--claw-logcat=off")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["found [[]'screenshot.png', 'snapshot.xml'[]]"])


def test_an_app_that_hangs(pytester: pytest.Pytester, run: Run) -> None:
    """An ANR that the system reports is told in failure and summary, and marked in the log."""
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.device.shell("log -p e -t ActivityManager 'ANR in com.example.forged'")
            clawperator.device.shell("sim anr com.example.shop")
            clawperator.home()
            assert 0
        """
    )

    result = run()

    result.assert_outcomes(failed=1)
    said = "com.example.shop does not respond (ANR): Input dispatching timed out"
    result.stdout.fnmatch_lines(
        [
            f"*- clawperator: {said} -*",
            "* E ActivityManager: ANR in com.example.shop",
            f"  log.txt ({said})",
            "*= evidence =*",
            f"    {said}",
        ]
    )
    log = (folder(pytester) / "log.txt").read_text()
    assert [line.rpartition(": ")[2] for line in log.splitlines() if line.startswith(">>> ")] == [
        "ANR in com.example.shop",
        "0",
        "Input dispatching timed out",
    ]
