"""Watches the rack while somebody looks at it, and tells them what changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import USABLE
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.remedies import Wording, for_scripts
from pytest_clawperator.service.events import Events
from pytest_clawperator.service.page.overview import GONE, Seen, describe, tell_problem
from pytest_clawperator.service.page.pictures import Pictures
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import Station

#: How often adb and the leases of other processes are looked at: they tell nobody of a change.
SURVEY_EVERY = 2.0
#: How often changes are told: nobody reads faster.
TELL_EVERY = 0.1
#: After how many seconds the Operator is looked at again: one in trouble, and one that is fine.
CHECK_TROUBLE, CHECK_FINE = 15.0, 300.0
#: How long a device that is no longer connected is shown, in seconds.
REMEMBER_GONE = 3600.0

CHANGED = "clawperator:rack"
# The states of a device that nobody has.
_FREE = ("ready", "trouble")


@dataclass
class _Watched:
    """A device that was seen: what adb called it last, and when it was asked what."""

    adb_state: str = ""
    gone_at: float | None = None
    checked_at: float | None = None
    asking: asyncio.Task[None] | None = None
    holder: Holder | None = None
    told: dict[str, Any] = field(default_factory=dict)


class RackWatch:
    """Describes the rack, and publishes each change of it; used in the thread of the loop.

    While nobody looks, nothing is asked of adb or of any device.
    """

    def __init__(
        self,
        rack: Rack,
        *,
        wording: Wording = for_scripts,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.events = Events(most=200)
        self.pictures = Pictures(rack, clock=clock)
        self._rack = rack
        self._wording = wording
        self._clock = clock
        self._devices: dict[str, _Watched] = {}
        self._adb_problem: dict[str, Any] | None = None
        self._told: tuple[dict[str, Any] | None, frozenset[str]] = (None, frozenset())
        self._revision = 0
        self._news = asyncio.Event()
        self._surveying = asyncio.Lock()
        self._surveyed_at = 0.0
        self._watching: asyncio.Task[None] | None = None
        rack.on_change = rack.leasing.on_change = self._news.set

    async def document(self) -> dict[str, Any]:
        """Return what there is to see now."""
        await self._survey(within=SURVEY_EVERY / 2)
        self._tell()
        return {
            "now": round(self._clock(), 3),
            "revision": self._revision,
            "adb": self._adb_problem,
            "devices": [one.told for _, one in sorted(self._devices.items())],
        }

    def follow(self) -> AsyncIterator[bytes]:
        """Return each change as an event; with the first who looks, watching begins."""
        if self._watching is None or self._watching.done():
            self._watching = asyncio.get_running_loop().create_task(self._watch())
        return self.events.stream(None)

    def station(self, serial: str) -> Station | None:
        """Return a device that can be seen."""
        watched = self._devices.get(serial)
        is_there = watched is not None and watched.adb_state == USABLE
        return self._rack.station_of(serial) if is_there else None

    def close(self) -> None:
        """End all streams, and watch no more."""
        self.events.close()
        tasks = [self._watching, *(one.asking for one in self._devices.values())]
        for task in tasks:
            if task is not None:
                task.cancel()

    async def _watch(self) -> None:
        """Look and tell, until nobody listens any more."""
        is_watched = True
        while is_watched and not self.events.is_closed:
            self._news.clear()
            await self._survey(within=SURVEY_EVERY)
            self._tell()
            await asyncio.sleep(TELL_EVERY)  # changes in between are told together
            with suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), SURVEY_EVERY)
            is_watched = self.events.listeners > 0

    async def _survey(self, *, within: float) -> None:
        """Ask adb and the leases, unless that was done just before."""
        async with self._surveying:
            if time.monotonic() - self._surveyed_at < within:
                return
            try:
                found = dict(await self._rack.devices())
                self._adb_problem = None
            except ClawperatorError as error:
                found, self._adb_problem = {}, tell_problem(error, self._wording)
            self._note_states(found)
            await self._note_holders()
            self._ask_devices()
            self._surveyed_at = time.monotonic()

    def _note_states(self, found: dict[str, str]) -> None:
        now = self._clock()
        for serial, state in found.items():
            watched = self._devices.setdefault(serial, _Watched())
            if watched.adb_state != state:
                watched.adb_state, watched.checked_at = state, None
            watched.gone_at = None
        for serial in self._devices.keys() - found.keys():
            watched = self._devices[serial]
            watched.adb_state = GONE
            watched.gone_at = watched.gone_at or now
            is_known = self._rack.station_of(serial).known_info is not None
            if not is_known or now - watched.gone_at > REMEMBER_GONE:
                del self._devices[serial]
                self.pictures.forget(serial)

    async def _note_holders(self) -> None:
        """Ask who has each device; one whose key is not known yet is nobody's."""
        stations = [self._rack.station_of(serial) for serial in self._devices]
        keys = {one.serial: one.known_info.key for one in stations if one.known_info is not None}
        holders = await self._rack.in_thread(self._holders, keys)
        for serial, watched in self._devices.items():
            is_ours = self._rack.leasing.of(serial) is not None
            watched.holder = None if is_ours else holders.get(serial)

    def _holders(self, keys: dict[str, str]) -> dict[str, Holder | None]:
        try:
            return {serial: self._rack.leasing.holder(key) for serial, key in keys.items()}
        except ClawperatorError as error:
            self._adb_problem = self._adb_problem or tell_problem(error, self._wording)
            return {}

    def _ask_devices(self) -> None:
        """Ask each device what it is, and one that nobody has whether its Operator can work."""
        for serial, watched in self._devices.items():
            is_asked = watched.asking is not None and not watched.asking.done()
            if watched.adb_state == USABLE and not is_asked and self._is_check_due(serial):
                work = self._ask(self._rack.station_of(serial), watched)
                watched.asking = asyncio.get_running_loop().create_task(work)

    def _is_check_due(self, serial: str) -> bool:
        watched, station = self._devices[serial], self._rack.station_of(serial)
        if watched.checked_at is None:
            return True
        pause = CHECK_FINE if station.problem is None else CHECK_TROUBLE
        return self._clock() - watched.checked_at > pause

    async def _ask(self, station: Station, watched: _Watched) -> None:
        watched.checked_at = self._clock()
        try:
            info = await self._rack.in_thread(lambda: station.info)
            watched.holder = await self._rack.in_thread(self._rack.leasing.holder, info.key)
            if self._seen(station.serial, watched).state in _FREE:
                await self._rack.in_thread(station.check)
        except ClawperatorError:
            pass  # it is the problem of the station, and shown
        finally:
            self._news.set()

    def _tell(self) -> None:
        """Describe all devices anew, and publish what is not as it was told last."""
        changed = []
        for serial, watched in self._devices.items():
            told = describe(self._seen(serial, watched), wording=self._wording)
            told["goneAt"] = watched.gone_at
            if watched.told.get("state") == "held" and told["state"] in _FREE:
                watched.checked_at = None  # who had it may have changed anything
            if told != watched.told:
                watched.told = told
                changed.append(told)
                self.pictures.happened(serial)
        if self._is_other_news() or changed:
            self._revision += 1
            self.events.publish(CHANGED, self._news_of(changed))

    def _is_other_news(self) -> bool:
        told = (self._adb_problem, frozenset(self._devices))
        before, self._told = self._told, told
        return told != before

    def _news_of(self, changed: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "now": round(self._clock(), 3),
            "revision": self._revision,
            "adb": self._adb_problem,
            "serials": sorted(self._devices),
            "devices": changed,
        }

    def _seen(self, serial: str, watched: _Watched) -> Seen:
        station = self._rack.station_of(serial)
        return Seen(
            serial=serial,
            adb_state=watched.adb_state,
            info=station.known_info,
            running=self._rack.running_on(serial),
            lease=self._rack.leasing.of(serial),
            holder=watched.holder,
            past=tuple(station.past),
            problem=station.problem,
        )
