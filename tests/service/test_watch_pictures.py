"""Pictures are taken when something happened and the device is free, and not otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from io import BytesIO
from typing import Any, NoReturn

import pytest
from PIL import Image

from pytest_clawperator.contracts.payload import validate_execution
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.errors import LeaseError, TransportError
from pytest_clawperator.pictures import thumbnail
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import PastRun, Station
from pytest_clawperator.service.watch import QUIET, SLOW, Picture, Pictures
from pytest_clawperator.transport.interface import OnOutput, ignored
from tests.doubles.leases import take
from tests.doubles.quiet_rack import QuietConnector, QuietPhone, png
from tests.service.conftest import execution

Scene = Callable[["Bench"], Coroutine[Any, Any, None]]


class Bench:
    """One phone, its pictures, and a clock that a test turns."""

    def __init__(self) -> None:
        self.now = 1000.0
        connector = QuietConnector(A="device")
        self.rack = Rack(connector)
        self.pictures = Pictures(self.rack, clock=lambda: self.now)
        self.station: Station = self.rack.station_of("A")
        self.phone: QuietPhone = connector.phones["A"]
        assert self.station.info.model == "Pixel 9"

    async def look(self, *, after: float = 0.0) -> Picture | None:
        """Ask for the newest picture, some seconds later."""
        self.now += after
        return await self.pictures.newest(self.station)

    def ran(self, *, picture: bytes | None = None) -> None:
        """Let an execution have ended just now."""
        run = PastRun(
            execution=validate_execution(execution()),
            began_at=self.now - 1,
            elapsed=1.0,
            picture=picture,
        )
        self.station._past.append(run)
        self.pictures.happened("A")


def play(scene: Scene) -> Bench:
    """Play a scene with a phone."""
    bench = Bench()

    async def playing() -> None:
        await scene(bench)
        await bench.rack.close()

    asyncio.run(playing())
    return bench


def test_a_quiet_device_is_photographed_at_a_low_rate() -> None:
    """However many clients look; after an execution soon, once no other one follows."""

    async def scene(bench: Bench) -> None:
        await asyncio.gather(*(bench.look() for _ in range(10)))
        await bench.look(after=SLOW - 1)
        assert bench.phone.pictures == 1
        await bench.look(after=1)
        assert bench.phone.pictures == 2
        bench.now += 5
        bench.ran()
        await bench.look(after=QUIET / 2)
        assert bench.phone.pictures == 2
        await bench.look(after=QUIET)

    assert play(scene).phone.pictures == 3


@pytest.mark.parametrize("held_by", ["execution", "client", "run", "unknown"])
def test_a_device_in_use_is_not_photographed(held_by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An execution or a lease keep the camera away, and leases that cannot be read do."""

    def unreachable(key: str) -> NoReturn:
        raise LeaseError("the store does not answer")

    async def scene(bench: Bench) -> None:
        first = await bench.look()
        leasing, key = bench.rack.leasing, bench.station.info.key
        if held_by == "execution":
            bench.station.running = "c-1"
        elif held_by == "client":
            await leasing.take("A", key, owner="ci", ttl=10.0)
        elif held_by == "run":
            hold = take(open_leases(run_id="a test run"), key)
        else:
            monkeypatch.setattr(leasing, "holder", unreachable)
        bench.pictures.happened("A")
        assert await bench.look(after=SLOW * 2) == first
        if held_by == "run":
            hold.release()

    assert play(scene).phone.pictures == 1


def test_a_picture_needs_no_lease() -> None:
    """A test run that starts while a picture is taken gets the device."""

    async def scene(bench: Bench) -> None:
        class Leasing(QuietPhone):
            def exec_out(
                self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
            ) -> bytes:
                take(open_leases(run_id="a test run"), bench.station.info.key).release()
                return super().exec_out(command, timeout=timeout)

        bench.phone.__class__ = Leasing
        assert await bench.look() is not None

    assert play(scene).phone.pictures == 1


def test_the_screenshot_of_an_execution_is_shown_at_no_cost() -> None:
    """Also while the device is leased."""

    async def scene(bench: Bench) -> None:
        await bench.rack.leasing.take("A", bench.station.info.key, owner="ci", ttl=10.0)
        assert await bench.look() is None
        bench.ran(picture=png())
        shown = await bench.look()
        assert shown is not None
        assert shown.at == bench.now

    assert play(scene).phone.pictures == 0


def test_a_device_that_gives_no_picture_is_not_asked_again_soon() -> None:
    """It has a problem, which is shown until it answers."""

    async def scene(bench: Bench) -> None:
        bench.phone.screen = None
        for _ in range(3):
            assert await bench.look(after=1) is None
        assert isinstance(bench.station.problem, TransportError)
        assert bench.phone.pictures == 1
        bench.phone.screen = png()
        assert await bench.look(after=SLOW) is not None
        assert bench.station.problem is None

    assert play(scene).phone.pictures == 2


def test_a_picture_is_made_small_and_checked() -> None:
    """A page with forty of them must load; what a device sends may claim anything."""
    small = Image.open(BytesIO(thumbnail(png((1080, 2400)), serial="A")))
    assert (small.size, small.format) == ((288, 640), "JPEG")
    broken = (b"", b"\x89PNG\r\n\x1a\nnothing", png()[:-30], b"GIF89a" + png(), png((9000, 6000)))
    for content in broken:
        with pytest.raises(TransportError, match="unreadable"):
            thumbnail(content, serial="A")
