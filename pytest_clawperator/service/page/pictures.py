"""The newest picture of each device, taken only when that disturbs nobody.

A picture costs a phone some tenths of a second, which a test would notice. So none is taken
while a device is leased, while an execution is on it, or right after one: another one may
follow. The screenshots of executions are shown as well; they cost nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.errors import ClawperatorError, LeaseError
from pytest_clawperator.pictures import thumbnail
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import Station

#: After how many seconds a picture is taken again though nothing happened.
SLOW = 30.0
#: For how many seconds nothing must have run on a device, and how old a picture must be.
QUIET = 1.0
#: How many devices are photographed at once.
AT_ONCE = 4


@dataclass(frozen=True)
class Picture:
    """A small picture of a screen, and when it was taken."""

    content: bytes
    at: float


class Pictures:
    """The pictures of the rack; used in the thread of the loop."""

    def __init__(self, rack: Rack, *, clock: Callable[[], float] = time.time) -> None:
        self._rack = rack
        self._clock = clock
        self._newest: dict[str, Picture] = {}
        self._happened: dict[str, float] = {}
        self._tried: dict[str, float] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._at_once = asyncio.Semaphore(AT_ONCE)

    def happened(self, serial: str) -> None:
        """Note that the screen of a device may have changed."""
        self._happened[serial] = self._clock()

    def forget(self, serial: str) -> None:
        """Forget a device."""
        for known in (self._newest, self._happened, self._tried, self._turns):
            known.pop(serial, None)

    async def newest(self, station: Station) -> Picture | None:
        """Return the newest picture there is; take one if it is time to, and nobody minds.

        However many ask, a device is asked once.
        """
        async with self._turns.setdefault(station.serial, asyncio.Lock()):
            await self._adopt(station)
            if self._is_due(station.serial):
                async with self._at_once:
                    await self._rack.in_thread(self._take, station)
            return self._newest.get(station.serial)

    async def _adopt(self, station: Station) -> None:
        """Take over the newest screenshot of an execution, if it is newer than ours."""
        known = self._newest.get(station.serial)
        for past in station.past:
            if known is not None and past.ended_at <= known.at:
                return
            if past.picture is not None:
                content = await self._rack.in_thread(_shrunk, past.picture, station.serial)
                if content is not None:
                    self._newest[station.serial] = Picture(content, past.ended_at)
                return

    def _is_due(self, serial: str) -> bool:
        now, known = self._clock(), self._newest.get(serial)
        tried = self._tried.get(serial, 0.0)
        if known is None or known.at < tried:  # the last attempt failed
            return now - tried >= (SLOW if serial in self._tried else 0.0)
        return now - known.at >= (QUIET if known.at < self._happened.get(serial, 0.0) else SLOW)

    def _take(self, station: Station) -> None:
        """Take a picture if the device is free; it blocks."""
        now = self._clock()
        if not self._is_free(station, now):
            return
        self._tried[station.serial] = now
        try:
            content = thumbnail(station.photograph(), serial=station.serial)
        except ClawperatorError:
            return  # it is the problem of the station, and shown there
        self._newest[station.serial] = Picture(content, now)

    def _is_free(self, station: Station, now: float) -> bool:
        """Whether nobody has the device, or used it just now."""
        info, leasing = station.known_info, self._rack.leasing
        if info is None or station.running is not None or leasing.of(station.serial) is not None:
            return False
        if station.past and now - station.past[0].ended_at < QUIET:
            return False
        try:
            return leasing.holder(info.key) is None
        except LeaseError:
            return False  # where leases are kept cannot be reached


def _shrunk(png: bytes, serial: str) -> bytes | None:
    try:
        return thumbnail(png, serial=serial)
    except ClawperatorError:
        return None  # the execution has it as it came
