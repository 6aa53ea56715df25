"""The rack is watched while somebody looks, and what changes is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.service import watch as watching
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.watch import CHECK_TROUBLE, REMEMBER_GONE, RackWatch
from tests.doubles.leases import take
from tests.doubles.quiet_rack import QuietConnector

DEADLINE = 20.0

Scene = Callable[["Bench"], Coroutine[Any, Any, None]]


class Bench:
    """A rack in memory, somebody who looks at it, and a clock that a test turns."""

    def __init__(self, **states: str) -> None:
        self.now = 1000.0
        self.connector = QuietConnector(**states)
        self.rack = Rack(self.connector)
        self.watch = RackWatch(self.rack, clock=lambda: self.now)
        self._stream: AsyncIterator[bytes] | None = None

    async def state_of(self, serial: str) -> dict[str, Any]:
        """Return what the document tells of a device."""
        devices = (await self.document())["devices"]
        found: dict[str, Any] = next(one for one in devices if one["serial"] == serial)
        return found

    async def document(self) -> dict[str, Any]:
        """Return a document for which everything was looked at anew."""
        self.watch._surveyed_at = 0.0
        await self.watch.document()
        asked = [one.asking for one in self.watch._devices.values() if one.asking is not None]
        if asked:
            await asyncio.wait(asked, timeout=DEADLINE)
        return await self.watch.document()

    async def news(self) -> dict[str, Any]:
        """Return the next change that is told."""
        if self._stream is None:
            self._stream = self.watch.follow()
        while True:
            frame = await asyncio.wait_for(self._stream.__anext__(), DEADLINE)
            for event in frame.decode().split("\n\n"):
                if event.startswith(f"event: {watching.CHANGED}\n"):
                    told: dict[str, Any] = json.loads(event.split("data: ")[1].split("\n")[0])
                    return told


@pytest.fixture(autouse=True)
def in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often, so that nobody waits."""
    monkeypatch.setattr(watching, "SURVEY_EVERY", 0.02)
    monkeypatch.setattr(watching, "TELL_EVERY", 0.001)


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
    """What it is, and its state in one word."""

    async def scene(bench: Bench) -> None:
        device = await bench.state_of("A")
        assert (device["name"], device["about"]) == ("Google Pixel 9", ["Android 16", "API 36"])
        states = {one["serial"]: one["state"] for one in (await bench.document())["devices"]}
        assert states == {
            "A": "ready",
            "B": "offline",
            "C": "unauthorized",
            "D": "unauthorized",
            "E": "offline",
        }

    no_rights = "no permissions (missing udev rules?)"
    play(scene, A="device", B="offline", C="unauthorized", D=no_rights, E="recovery")


def test_a_change_is_told_to_those_who_look() -> None:
    """With the devices that changed, and all serials."""

    async def scene(bench: Bench) -> None:
        while (await bench.news())["devices"][0]["name"] != "Google Pixel 9":
            pass
        bench.connector.states["A"] = "offline"
        told = await bench.news()
        assert [(one["serial"], one["state"]) for one in told["devices"]] == [("A", "offline")]
        assert told["serials"] == ["A", "B"]

    play(scene, A="device", B="offline")


def test_nothing_is_asked_while_nobody_looks() -> None:
    """The watch ends with the last who looked."""

    async def scene(bench: Bench) -> None:
        stream = bench.watch.follow()
        await stream.__anext__()
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
        assert bench.watch._watching is not None
        await asyncio.wait_for(bench.watch._watching, DEADLINE)

    assert play(scene, A="device").connector.lists >= 1


def test_who_has_a_device_is_named_with_or_without_this_service() -> None:
    """A client's lease, one of another process, and nobody again."""

    async def scene(bench: Bench) -> None:
        await bench.state_of("A")
        lease = await bench.rack.leasing.take("A", "key-A", owner="ci\x1b[31m", ttl=10.0)
        held = await bench.state_of("A")
        assert (held["state"], held["holder"]["who"]) == ("held", "ci\\x1b[31m")
        bench.rack.leasing.release(lease.token)
        assert (await bench.state_of("A"))["state"] == "ready"
        with take(open_leases(run_id="nightly"), "key-A"):
            held = await bench.state_of("A")
        assert held["state"] == "held"
        assert held["holder"]["how"].endswith("run nightly")
        assert held["holder"]["since"] is not None
        assert (await bench.state_of("A"))["state"] == "ready"

    play(scene, A="device")


def test_trouble_with_the_operator_is_found_and_its_end_too() -> None:
    """Without an execution, and not of a device that somebody has."""

    async def scene(bench: Bench) -> None:
        phone = bench.connector.phones["A"]
        before = dict(phone.answers)
        phone.lose_operator()
        troubled = await bench.state_of("A")
        assert troubled["state"] == "trouble"
        assert troubled["problem"]["isOperator"]
        assert troubled["problem"]["code"] == "DEVICE_ACCESSIBILITY_NOT_RUNNING"
        asked = len(phone.calls)
        with take(open_leases(run_id="nightly"), "key-A"):
            bench.now += CHECK_TROUBLE + 1
            assert (await bench.state_of("A"))["state"] == "held"
        assert len(phone.calls) == asked
        phone.answers = before
        bench.now += CHECK_TROUBLE + 1
        assert (await bench.state_of("A"))["state"] == "ready"

    play(scene, A="device")


def test_the_operator_is_looked_at_again_when_a_device_is_released() -> None:
    """Who had it may have left it in trouble."""

    async def scene(bench: Bench) -> None:
        assert (await bench.state_of("A"))["state"] == "ready"
        with take(open_leases(run_id="nightly"), "key-A"):
            bench.connector.phones["A"].lose_operator()
            assert (await bench.state_of("A"))["state"] == "held"
        await bench.document()
        assert (await bench.state_of("A"))["state"] == "trouble"

    play(scene, A="device")


def test_a_device_that_is_unplugged_is_shown_for_a_while() -> None:
    """Who looks later sees that it is missing; one that was never usable is not missed."""

    async def scene(bench: Bench) -> None:
        await bench.document()
        bench.connector.states.clear()
        gone = await bench.state_of("A")
        assert (gone["state"], gone["goneAt"]) == ("offline", bench.now)
        assert len((await bench.document())["devices"]) == 1
        bench.now += REMEMBER_GONE + 1
        assert (await bench.document())["devices"] == []

    play(scene, A="device", B="offline")


def test_an_adb_that_is_gone_is_told() -> None:
    """With the reason, and until it is back."""

    async def scene(bench: Bench) -> None:
        bench.connector.has_adb = False
        assert (await bench.document())["adb"]["code"] == "ADB_NOT_FOUND"
        bench.connector.has_adb = True
        assert (await bench.document())["adb"] is None

    play(scene, A="device")
