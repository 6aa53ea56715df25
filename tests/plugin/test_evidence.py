"""Evidence from devices that do not give it."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from pytest_clawperator.contracts.completion import complete_execution
from pytest_clawperator.contracts.events import ArtifactMade, ExecutionFinished
from pytest_clawperator.errors import DeviceUnavailableError, EnvelopeTimeoutError
from pytest_clawperator.plugin.evidence import gather
from pytest_clawperator.plugin.watching import Watched, label_of

ALL = ("screenshot", "snapshot", "log", "envelopes")
EXECUTION = complete_execution(
    [{"id": "a", "type": "click", "params": {"matcher": {"textEquals": "Buy"}}}]
)


class Client(SimpleNamespace):
    """A client behind another host, whose methods are given."""

    serial = "PH1"
    runner = None


def watched(**methods: Any) -> Watched:
    """Watch a client that has these methods."""
    client: Any = Client(**methods)
    return Watched(client)


def test_a_device_that_hangs() -> None:
    """What does not come in time is named, and the rest is there."""
    never = threading.Event()
    seen = watched(screenshot=never.wait)
    seen(ExecutionFinished(serial="PH1", at=0, execution=EXECUTION, elapsed=0.5))

    found = gather(seen, ALL, within=0.2)
    never.set()

    assert [piece.kind for piece in found.pieces] == ["envelopes"]
    assert found.missing[-2:] == [
        "no screenshot: the device did not give it within 0.2 s",
        "no snapshot: the device did not give it within 0.2 s",
    ]


def test_a_device_that_is_gone() -> None:
    """Each kind says why it is missing; whatever is raised stays inside."""

    def gone() -> bytes:
        raise DeviceUnavailableError("adb says: device offline", serial="PH1")

    found = gather(watched(screenshot=gone, execute=lambda *_, **__: 1 / 0), ALL)

    assert found.pieces == []
    assert found.missing == [
        "no log: the device is behind another host, which keeps its log",
        "no screenshot: DEVICE_OFFLINE: adb says: device offline",
        "no snapshot: ZeroDivisionError: division by zero",
    ]


def test_no_picture() -> None:
    """What is no picture is not kept as one."""
    found = gather(watched(screenshot=lambda: b"Error: full\n"), ["screenshot"])

    assert found.missing == ["no screenshot: screencap gave no picture; it said: Error: full"]


def test_the_last_screen_that_was_seen() -> None:
    """Where the Operator is silent, the screen that the test saw last has to do."""

    def silent(*_: object, **__: object) -> None:
        raise EnvelopeTimeoutError("no envelope within 6 s", serial="PH1")

    seen = watched(execute=silent)
    seen(
        ArtifactMade(serial="PH1", at=0, command_id="c", step_id="s", kind="snapshot", data=b"<x/>")
    )

    found = gather(seen, ["snapshot"])

    assert [(piece.content, piece.remark) for piece in found.pieces] == [
        (b"<x/>", "the last that the test saw: no envelope within 6 s")
    ]


def test_nothing_is_run_on_a_broken_device() -> None:
    """A device that failed already is not asked to look at its screen."""
    found = gather(watched(), ["snapshot"], is_broken=True)

    assert found.missing == ["no snapshot: the device does not answer"]


def test_what_evidence_does_is_not_evidence() -> None:
    """Executions of the evidence itself are not taken for those of the test."""
    event = ExecutionFinished(serial="PH1", at=0, execution=EXECUTION, elapsed=0.5)

    def screenshot() -> bytes:
        seen(event)
        return b""

    seen = watched(screenshot=screenshot)

    gather(seen, ["screenshot"])

    assert list(seen.executions) == []


def test_labels() -> None:
    """An execution is named by its actions and what they are about, in a few words."""
    many = complete_execution([{"id": str(n), "type": "snapshot_ui"} for n in range(9)])
    opens = complete_execution([{"type": "open_app", "params": {"applicationId": "com.shop"}}])

    labels = [label_of(EXECUTION), label_of(opens), label_of(many)]

    assert labels[:2] == ["click 'Buy'", "open_app 'com.shop'"]
    assert len(labels[2]) == 60
    assert labels[2].endswith("...")
