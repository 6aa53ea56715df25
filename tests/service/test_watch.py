"""The rack is watched while someone looks, and changes are sent."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from pytest_clawperator.cli.output import for_command_line
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.payload import validate_execution
from pytest_clawperator.devices.holder import UNKNOWN, Holder
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.errors import ErrorCode, OperatorNotReadyError, TransportError
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.service import watch as watching
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import PastRun
from pytest_clawperator.service.watch import (
    CHECK_TROUBLE,
    REMEMBER_GONE,
    RackWatch,
    Seen,
    describe,
)
from tests.doubles.leases import take
from tests.doubles.quiet_rack import QuietConnector
from tests.service.conftest import execution

DEADLINE = 20.0

Scene = Callable[["Bench"], Coroutine[Any, Any, None]]


class Bench:
    """A rack in memory, a client that looks at it, and a clock that a test turns."""

    def __init__(self, **states: str) -> None:
        self.now = 1000.0
        self.connector = QuietConnector(**states)
        self.rack = Rack(self.connector)
        self.watch = RackWatch(self.rack, clock=lambda: self.now)
        self._stream: AsyncIterator[bytes] | None = None

    async def device(self, serial: str) -> dict[str, Any]:
        """Return a device as the document describes it."""
        devices = (await self.document())["devices"]
        found: dict[str, Any] = next(one for one in devices if one["serial"] == serial)
        return found

    async def document(self) -> dict[str, Any]:
        """Return a document after everything was looked at again."""
        self.watch._surveyed_at = 0.0
        await self.watch.document()
        asked = [one.asking for one in self.watch._devices.values() if one.asking is not None]
        if asked:
            await asyncio.wait(asked, timeout=DEADLINE)
        return await self.watch.document()

    async def news(self) -> dict[str, Any]:
        """Return the next change that is sent."""
        if self._stream is None:
            self._stream = self.watch.follow()
        while True:
            frame = await asyncio.wait_for(self._stream.__anext__(), DEADLINE)
            for event in frame.decode().split("\n\n"):
                if event.startswith(f"event: {watching.CHANGED}\n"):
                    change: dict[str, Any] = json.loads(event.split("data: ")[1].split("\n")[0])
                    return change


@pytest.fixture(autouse=True)
def in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often, so that no test waits."""
    monkeypatch.setattr(watching, "SURVEY_EVERY", 0.02)
    monkeypatch.setattr(watching, "PUBLISH_EVERY", 0.001)


def play(scene: Scene, **states: str) -> Bench:
    """Play a scene with devices in these states."""
    bench = Bench(**states)

    async def playing() -> None:
        await scene(bench)
        bench.watch.close()
        await bench.rack.close()

    asyncio.run(playing())
    return bench


def test_each_device_is_described() -> None:
    """What it is, and its state in one word; adb that is gone until it is back."""

    async def scene(bench: Bench) -> None:
        device = await bench.device("A")
        assert (device["name"], device["about"]) == ("Google Pixel 9", ["Android 16", "API 36"])
        states = {one["serial"]: one["state"] for one in (await bench.document())["devices"]}
        away = "unauthorized"
        assert states == {"A": "ready", "B": "offline", "C": away, "D": away, "E": "offline"}
        bench.connector.has_adb = False
        assert (await bench.document())["adb"]["code"] == "ADB_NOT_FOUND"
        bench.connector.has_adb = True
        assert (await bench.document())["adb"] is None

    no_rights = "no permissions (missing udev rules?)"
    play(scene, A="device", B="offline", C="unauthorized", D=no_rights, E="recovery")


def test_a_change_is_sent_to_those_who_look() -> None:
    """With the devices that changed, and all serials."""

    async def scene(bench: Bench) -> None:
        while (await bench.news())["devices"][0]["name"] != "Google Pixel 9":
            pass
        bench.connector.states["A"] = "offline"
        change = await bench.news()
        assert [(one["serial"], one["state"]) for one in change["devices"]] == [("A", "offline")]
        assert change["serials"] == ["A", "B"]

    play(scene, A="device", B="offline")


def test_the_watch_ends_with_the_last_client() -> None:
    """Nothing is asked while no client looks."""

    async def scene(bench: Bench) -> None:
        stream = bench.watch.follow()
        await stream.__anext__()
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
        assert bench.watch._watching is not None
        await asyncio.wait_for(bench.watch._watching, DEADLINE)

    assert play(scene, A="device").connector.lists >= 1


def test_the_holder_of_a_device_is_named() -> None:
    """A client's lease, one of another process, and none again."""

    async def scene(bench: Bench) -> None:
        await bench.device("A")
        lease = await bench.rack.leasing.take("A", "key-A", owner="ci\x1b[31m", ttl=10.0)
        held = await bench.device("A")
        assert (held["state"], held["holder"]["who"]) == ("held", "ci\\x1b[31m")
        bench.rack.leasing.release(lease.token)
        assert (await bench.device("A"))["state"] == "ready"
        with take(open_leases(run_id="nightly"), "key-A"):
            held = await bench.device("A")
        assert held["state"] == "held"
        assert held["holder"]["how"].endswith("run nightly")
        assert held["holder"]["since"] is not None
        assert (await bench.device("A"))["state"] == "ready"

    play(scene, A="device")


def test_trouble_with_the_operator_is_found_and_its_end_too() -> None:
    """Without an execution, not of a device in use, and again when that is released."""

    async def scene(bench: Bench) -> None:
        phone = bench.connector.phones["A"]
        before = dict(phone.answers)
        assert (await bench.device("A"))["state"] == "ready"
        with take(open_leases(run_id="nightly"), "key-A"):
            phone.lose_operator()
            assert (await bench.device("A"))["state"] == "held"
        await bench.document()
        troubled = await bench.device("A")
        assert troubled["state"] == "trouble"
        assert troubled["problem"]["isOperator"]
        assert troubled["problem"]["code"] == "DEVICE_ACCESSIBILITY_NOT_RUNNING"
        asked = len(phone.calls)
        with take(open_leases(run_id="nightly"), "key-A"):
            bench.now += CHECK_TROUBLE + 1
            assert (await bench.device("A"))["state"] == "held"
        assert len(phone.calls) == asked
        phone.answers = before
        bench.now += CHECK_TROUBLE + 1
        await bench.document()
        assert (await bench.device("A"))["state"] == "ready"

    play(scene, A="device")


def test_a_device_that_is_unplugged_is_shown_for_a_while() -> None:
    """It is missing; one that was never usable is not missed."""

    async def scene(bench: Bench) -> None:
        await bench.document()
        bench.connector.states.clear()
        gone = await bench.device("A")
        assert (gone["state"], gone["goneAt"]) == ("offline", bench.now)
        assert len((await bench.document())["devices"]) == 1
        bench.now += REMEMBER_GONE + 1
        assert (await bench.document())["devices"] == []

    play(scene, A="device", B="offline")


RUNNING = validate_execution(execution())

PROBLEM = TransportError("frozen", serial="A")

HOLDER = Holder.here("nightly")


def shown(**fields: Any) -> dict[str, Any]:
    """Describe a device of which this is known."""
    return describe(Seen(serial="A", adb_state="device", **fields), wording=for_command_line)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "ready"),
        ({"problem": PROBLEM}, "trouble"),
        ({"holder": HOLDER, "problem": PROBLEM}, "held"),
        ({"running": RUNNING, "holder": HOLDER}, "busy"),
    ],
    ids=["ready", "trouble", "held", "busy"],
)
def test_a_device_has_one_state(fields: dict[str, Any], state: str) -> None:
    """What keeps others from using it comes first; its problem is shown all the same."""
    device = shown(**fields)

    assert device["state"] == state
    assert (device["problem"] is not None) == ("problem" in fields)


def test_a_device_is_described_in_the_words_of_its_readers() -> None:
    """By maker and model, each once, or by serial; a hint names commands."""
    for maker, model, name in (
        ("Google", "Pixel 9", "Google Pixel 9"),
        ("moto", "Moto g84", "Moto g84"),
        (None, None, "A"),
    ):
        info = DeviceInfo(serial="A", key="k", manufacturer=maker, model=model)
        assert shown(info=info)["name"] == name
    hint = ("Then ", Remedy(RemedyKind.SWITCH_SERVICE_ON))
    problem = shown(problem=OperatorNotReadyError("off", hint=hint))["problem"]
    assert "clawperator-py grant-device-permissions" in problem["hint"]
    for since in ("yesterday", "", "9" * 300, "0001-01-01 00:00:00"):
        holder = Holder(owner="o", pid=1, host="h", run_id="", since=since, token="t", machine="")
        expected = {"who": "o on h", "how": "process 1", "since": None}
        assert shown(holder=holder)["holder"] == expected
    assert shown(holder=UNKNOWN)["holder"]["who"].startswith("a holder")


def test_texts_of_others_are_short_and_visible() -> None:
    """Control characters are shown, secrets are not, and no text fills the page."""
    SECRETS.add("hunter2-secret")
    error = OperatorNotReadyError("\x1b[31m" + "x" * 900, code=ErrorCode.OPERATOR_NOT_INSTALLED)
    failed = PastRun(
        execution=RUNNING,
        began_at=time.time(),
        elapsed=0.25,
        code="NODE_NOT_FOUND",
        message="typed hunter2-secret\u202e",
    )
    device = shown(problem=error, past=(failed,) * 20)

    assert device["problem"]["message"].startswith("\\x1b[31mxxx")
    assert len(device["problem"]["message"]) == 500
    assert len(device["executions"]) == 5
    assert "hunter2" not in str(device)
    assert device["executions"][0]["message"].endswith("\\u202e")
