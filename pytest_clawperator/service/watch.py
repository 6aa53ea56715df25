"""Watch the rack while its page is open: what devices do, their pictures, and what changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import USABLE
from pytest_clawperator.errors import ClawperatorError, LeaseError, OperatorNotReadyError
from pytest_clawperator.pictures import thumbnail
from pytest_clawperator.redaction import hide
from pytest_clawperator.remedies import Wording, for_scripts, in_words
from pytest_clawperator.service.events import Events
from pytest_clawperator.service.leasing import ServiceLease
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import PastRun, Station
from pytest_clawperator.text import visible_line

#: The state of a device that adb listed before and does not list any more.
GONE = "gone"

#: How many executions, and how many actions of each, are shown.
SHOWN_RUNS, SHOWN_ACTIONS = 5, 4

_LONGEST, _LONGEST_MESSAGE = 120, 500

# States in which adb waits for the owner of the phone.
_UNAUTHORIZED = ("unauthorized", "authorizing", "no permissions")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is known about a device at one moment; ``adb_state`` is its state in adb."""

    serial: str
    adb_state: str
    info: DeviceInfo | None = None
    running: Execution | None = None
    lease: ServiceLease | None = None
    holder: Holder | None = None
    past: tuple[PastRun, ...] = ()
    problem: ClawperatorError | None = None

    @property
    def is_held(self) -> bool:
        """Whether it is leased, through this service or not."""
        return self.lease is not None or self.holder is not None

    @property
    def state(self) -> str:
        """Its state in one word."""
        if self.adb_state != USABLE:
            is_refused = self.adb_state.startswith(_UNAUTHORIZED)
            return "unauthorized" if is_refused else "offline"
        if self.running is not None:
            return "busy"
        if self.is_held:
            return "held"
        return "ready" if self.problem is None else "trouble"


def describe(seen: Seen, *, wording: Wording = for_scripts) -> dict[str, Any]:
    """Return what the page shows of a device; hints are worded for its readers."""
    return {
        "serial": seen.serial,
        "name": line(_name(seen)),
        "about": _about(seen.info),
        "state": seen.state,
        "adbState": line(seen.adb_state),
        "running": None if seen.running is None else _actions(seen.running),
        "holder": _holder(seen),
        "problem": None if seen.problem is None else describe_problem(seen.problem, wording),
        "executions": [_run(past) for past in seen.past[:SHOWN_RUNS]],
    }


def describe_problem(error: ClawperatorError, wording: Wording = for_scripts) -> dict[str, Any]:
    """Return an error for the page."""
    hint = in_words(error.advice, wording)
    return {
        "code": line(str(error.code)),
        "isOperator": isinstance(error, OperatorNotReadyError),
        "message": line(error.message, _LONGEST_MESSAGE),
        "hint": None if hint is None else line(hint, _LONGEST_MESSAGE),
    }


def line(text: str, longest: int = _LONGEST) -> str:
    """Return a foreign text as one short line, with secrets hidden."""
    shown = visible_line(hide(text))
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _name(seen: Seen) -> str:
    info = seen.info
    if info is None or not info.model:
        return seen.serial
    maker = info.manufacturer or ""
    is_repeated = info.model.lower().startswith(maker.lower())
    return info.model if is_repeated else f"{maker} {info.model}"


def _about(info: DeviceInfo | None) -> list[str]:
    """Return facts about a device, in a few words each."""
    if info is None:
        return []
    facts = [f"Android {info.release}"] if info.release else []
    facts += [f"API {info.api_level}"] if info.api_level is not None else []
    facts += ["emulator"] if info.emulator else []
    return [line(text) for text in facts]


def _holder(seen: Seen) -> dict[str, Any] | None:
    if seen.lease is not None:
        since = seen.lease.since
        return {"who": line(seen.lease.owner), "how": "through this service", "since": since}
    if seen.holder is None:
        return None
    holder = seen.holder
    if not holder.token:
        return {"who": line(str(holder), _LONGEST_MESSAGE), "how": "", "since": None}
    run = f", run {holder.run_id}" if holder.run_id else ""
    return {
        "who": line(f"{holder.owner} on {holder.host}"),
        "how": line(f"process {holder.pid}{run}"),
        "since": _moment(holder.since),
    }


def _moment(text: str) -> float | None:
    """Return a time from a lease as seconds; None if it is not one."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _run(past: PastRun) -> dict[str, Any]:
    return {
        **_actions(past.execution),
        "at": round(past.ended_at, 3),
        "elapsedMs": round(past.elapsed * 1000),
        "ok": past.code is None,
        "code": None if past.code is None else line(past.code),
        "message": None if past.message is None else line(past.message, _LONGEST_MESSAGE),
    }


def _actions(execution: Execution) -> dict[str, Any]:
    types = [line(action.type) for action in execution.actions]
    return {
        "commandId": line(execution.command_id),
        "actions": types[:SHOWN_ACTIONS],
        "moreActions": max(len(types) - SHOWN_ACTIONS, 0),
    }


#: After how many seconds a picture is taken again although nothing happened.
SLOW = 30.0

#: For how many seconds nothing must have run on a device, and how old a picture must be.
QUIET = 1.0

#: How many devices are photographed in parallel.
AT_ONCE = 4


@dataclass(frozen=True)
class Picture:
    """A small picture of a screen, and when it was taken."""

    content: bytes
    at: float


class Pictures:
    """The pictures of the rack; used in the event loop's thread."""

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
        """Return the newest picture; take one if it is due and the device is free.

        Simultaneous requests share one picture.
        """
        async with self._turns.setdefault(station.serial, asyncio.Lock()):
            await self._adopt(station)
            if self._is_due(station.serial):
                async with self._at_once:
                    await self._rack.in_thread(self._take, station)
            return self._newest.get(station.serial)

    async def _adopt(self, station: Station) -> None:
        """Use the newest screenshot of an execution, if it is newer."""
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
        """Take a picture if the device is free; blocks."""
        now = self._clock()
        if not self._is_free(station, now):
            return
        self._tried[station.serial] = now
        try:
            content = thumbnail(station.photograph(), serial=station.serial)
        except ClawperatorError:
            return  # shown as the problem of the station
        self._newest[station.serial] = Picture(content, now)

    def _is_free(self, station: Station, now: float) -> bool:
        """Whether the device is not leased and was not used just now."""
        info, leasing = station.known_info, self._rack.leasing
        if info is None or station.running is not None or leasing.of(station.serial) is not None:
            return False
        if station.past and now - station.past[0].ended_at < QUIET:
            return False
        try:
            return leasing.holder(info.key) is None
        except LeaseError:
            return False  # the lease store cannot be reached


def _shrunk(png: bytes, serial: str) -> bytes | None:
    try:
        return thumbnail(png, serial=serial)
    except ClawperatorError:
        return None  # the execution keeps the original


#: How often adb and the leases of other processes are polled: they announce no changes.
SURVEY_EVERY = 2.0

#: How often changes are published, in seconds.
PUBLISH_EVERY = 0.1

#: After how many seconds the Operator is checked again: with and without a problem.
CHECK_TROUBLE, CHECK_FINE = 15.0, 300.0

#: How long a device that is no longer connected is shown, in seconds.
REMEMBER_GONE = 3600.0

CHANGED = "clawperator:rack"

# The states of a device that is not leased.
_FREE = ("ready", "trouble")


@dataclass
class _Watched:
    """A device that was seen: its last state in adb, and when it was checked."""

    adb_state: str = ""
    gone_at: float | None = None
    checked_at: float | None = None
    asking: asyncio.Task[None] | None = None
    holder: Holder | None = None
    shown: dict[str, Any] = field(default_factory=dict)


class RackWatch:
    """Describe the rack and publish each change; used in the event loop's thread.

    Without listeners nothing is sent to adb or to any device.
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
        self._shown: tuple[dict[str, Any] | None, frozenset[str]] = (None, frozenset())
        self._revision = 0
        self._news = asyncio.Event()
        self._surveying = asyncio.Lock()
        self._surveyed_at = 0.0
        self._watching: asyncio.Task[None] | None = None
        rack.on_change = rack.leasing.on_change = self._news.set

    async def document(self) -> dict[str, Any]:
        """Return the current state of the rack."""
        await self._survey(within=SURVEY_EVERY / 2)
        self._publish()
        shown = [one.shown for _, one in sorted(self._devices.items())]
        return {**self._state(), "devices": shown}

    def follow(self) -> AsyncIterator[bytes]:
        """Return each change as an event; the first listener starts the watching."""
        if self._watching is None or self._watching.done():
            self._watching = asyncio.get_running_loop().create_task(self._watch())
        return self.events.stream(None)

    def station(self, serial: str) -> Station | None:
        """Return a connected device."""
        watched = self._devices.get(serial)
        is_there = watched is not None and watched.adb_state == USABLE
        return self._rack.station_of(serial) if is_there else None

    def close(self) -> None:
        """End all streams, and stop watching."""
        self.events.close()
        tasks = [self._watching, *(one.asking for one in self._devices.values())]
        for task in tasks:
            if task is not None:
                task.cancel()

    async def _watch(self) -> None:
        """Poll and publish until the last listener has gone."""
        is_watched = True
        while is_watched and not self.events.is_closed:
            self._news.clear()
            await self._survey(within=SURVEY_EVERY)
            self._publish()
            await asyncio.sleep(PUBLISH_EVERY)  # changes in between are published together
            with suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), SURVEY_EVERY)
            is_watched = self.events.listeners > 0

    async def _survey(self, *, within: float) -> None:
        """Poll adb and the leases, unless that was done just before."""
        async with self._surveying:
            if time.monotonic() - self._surveyed_at < within:
                return
            try:
                found = dict(await self._rack.devices())
                self._adb_problem = None
            except ClawperatorError as error:
                found, self._adb_problem = {}, describe_problem(error, self._wording)
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
        """Read the holder of each device; one without a known key counts as free."""
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
            self._adb_problem = self._adb_problem or describe_problem(error, self._wording)
            return {}

    def _ask_devices(self) -> None:
        """Read the properties of each device, and check the Operator of the free ones."""
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
            pass  # shown as the problem of the station
        finally:
            self._news.set()

    def _publish(self) -> None:
        """Describe all devices again, and publish what changed."""
        changed = []
        for serial, watched in self._devices.items():
            shown = describe(self._seen(serial, watched), wording=self._wording)
            shown["goneAt"] = watched.gone_at
            if watched.shown.get("state") == "held" and shown["state"] in _FREE:
                watched.checked_at = None  # its holder may have changed anything
            if shown != watched.shown:
                watched.shown = shown
                changed.append(shown)
                self.pictures.happened(serial)
        before, self._shown = self._shown, (self._adb_problem, frozenset(self._devices))
        if changed or self._shown != before:
            self._revision += 1
            news = {**self._state(), "serials": sorted(self._devices), "devices": changed}
            self.events.publish(CHANGED, news)

    def _state(self) -> dict[str, Any]:
        now = round(self._clock(), 3)
        return {"now": now, "revision": self._revision, "adb": self._adb_problem}

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
