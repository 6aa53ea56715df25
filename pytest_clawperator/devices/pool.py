"""The devices of a run: leased for all of it, each used by one worker at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.lease import Hold, LeaseStore, Notify, take_each
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    DeviceUnavailableError,
    NoDeviceError,
)
from pytest_clawperator.remedies import Hint, Remedy, RemedyKind


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A device that a run could use: what it is, and the adb server or url it is reached by."""

    info: DeviceInfo
    adb: str | None = None
    url: str | None = None

    @property
    def serial(self) -> str:
        """The serial of the device."""
        return self.info.serial


@dataclass(frozen=True, kw_only=True)
class Lease:
    """Which device a process may use, and how it is reached.

    ``serial`` is what adb calls the device; ``key`` identifies it: one phone seen twice has one
    key. ``adb`` is the address of its adb server, or of a service of ours that leads to it;
    ``url`` is that of a host that runs executions and nothing else. ``ticket`` proves that the
    run holds the device, and is checked before anything is sent; without one nothing is checked.
    """

    serial: str
    key: str
    adb: str | None = None
    url: str | None = None
    ticket: str | None = None


Select = Callable[[Sequence[Candidate], str], Candidate | None]
Granted = Callable[[Sequence[Lease]], None]


class DevicePool:
    """Holds the devices of a run and assigns one to each worker.

    ``select`` chooses among the free ones for the worker with that id. A device that was given
    back is the first of them, so that the replacement of a crashed worker gets its phone.
    """

    def __init__(
        self, candidates: Sequence[Candidate], *, store: LeaseStore, select: Select
    ) -> None:
        self.candidates = tuple(candidates)
        self._store = store
        self._select = select
        self._holds: dict[str, Hold] = {}
        self._free: list[Candidate] = []
        self._taken: dict[str, Candidate] = {}
        self._put_aside: set[str] = set()

    @property
    def held(self) -> tuple[Candidate, ...]:
        """The devices that this run has leased."""
        return tuple(one for one in self.candidates if one.info.key in self._holds)

    @property
    def free(self) -> tuple[Candidate, ...]:
        """The devices that are held and that no worker has."""
        return tuple(self._free)

    @property
    def taken(self) -> dict[str, Candidate]:
        """The device of each worker, by the worker's id."""
        return dict(self._taken)

    def hold_each(
        self,
        groups: Sequence[Sequence[Candidate]],
        *,
        spare: int = 0,
        wait: float = 0.0,
        notify: Notify = lambda text: None,
    ) -> None:
        """Lease a device of each group, all or none.

        ``spare`` of them are for no worker, which the error says where there are too few.
        """
        candidates = {one.info.key: one for group in groups for one in group}
        if len(groups) > len(candidates):
            raise too_few(len(groups) - spare, tuple(candidates.values()), spare=spare)
        keys = [[one.info.key for one in group] for group in groups]

        def name(key: str) -> str:
            return candidates[key].serial

        for hold in take_each(self._store, keys, wait=wait, notify=notify, name=name):
            self._add(hold, candidates[hold.key])

    def hold_free(self, candidates: Iterable[Candidate]) -> list[str]:
        """Lease those that are free; return who holds the others, one sentence each."""
        reported = []
        for candidate in candidates:
            hold = self._store.try_take(candidate.info.key)
            if hold is not None:
                self._add(hold, candidate)
            else:
                holder = self._store.holder(candidate.info.key) or "another run"
                reported.append(f"{candidate.serial} is held by {holder}")
        return reported

    def keep(self, count: int, *, groups: Iterable[Sequence[Candidate]] = ()) -> None:
        """Release the devices beyond this number; one of each group goes last."""
        needed = self._one_of_each(groups)
        ordered = [*needed, *(one for one in self._free if one not in needed)]
        while len(self._holds) > count and ordered:
            gone = ordered.pop()
            self._free.remove(gone)
            self._holds.pop(gone.info.key).release()

    def take(
        self, worker_id: str, *, fits: Callable[[DeviceInfo], bool] = lambda info: True
    ) -> Lease:
        """Assign a free device to this worker."""
        free = tuple(one for one in self._free if fits(one.info))
        if not free:
            raise too_few(len(self._taken) + 1, self.held)
        chosen = self._choose(free, worker_id)
        self._free.remove(chosen)
        self._taken[worker_id] = chosen
        return self.lease_of(chosen)

    def chosen_first(self, worker_id: str) -> list[Candidate]:
        """Return all devices, starting with the one selected among the free ones."""
        free = [one for one in self.candidates if self._store.holder(one.info.key) is None]
        if not free:
            return list(self.candidates)
        chosen = self._choose(free, worker_id)
        return [chosen, *(one for one in self.candidates if one != chosen)]

    def give_back(self, worker_id: str) -> None:
        """Free the device of a worker that ended; a worker without one changes nothing."""
        device = self._taken.pop(worker_id, None)
        if device is not None and device.info.key not in self._put_aside:
            self._free.insert(0, device)

    def put_aside(self, worker_id: str) -> None:
        """Assign the device of this worker to no other: it does not work."""
        device = self._taken.get(worker_id)
        if device is not None:
            self._put_aside.add(device.info.key)

    def reserve(self, count: int, *, groups: Iterable[Sequence[Candidate]] = ()) -> list[Candidate]:
        """Keep so many free devices from the workers; one of each group goes last."""
        needed = self._one_of_each(groups)
        ordered = sorted(self._free, key=lambda one: (one not in needed, one.info.key))
        reserved = ordered[len(ordered) - count :]
        self._free = [one for one in self._free if one not in reserved]
        return reserved

    def lease_of(self, candidate: Candidate) -> Lease:
        """Return how a device that is held is reached, with the ticket that proves it."""
        info, hold = candidate.info, self._holds[candidate.info.key]
        return Lease(
            serial=info.serial,
            key=info.key,
            adb=candidate.adb,
            url=candidate.url,
            ticket=hold.ticket,
        )

    def with_ticket(self, lease: Lease) -> Lease:
        """Return a lease with a ticket of now, which says how long the device is held."""
        return replace(lease, ticket=self._holds[lease.key].ticket)

    def close(self) -> None:
        """Release all devices, and close the store."""
        while self._holds:
            self._holds.popitem()[1].release()
        self._store.close()

    def _one_of_each(self, groups: Iterable[Sequence[Candidate]]) -> list[Candidate]:
        """Return a free device of each group that has any; groups with the least choice first.

        A group that is given twice has two, if it can.
        """
        chosen: list[Candidate] = []
        wanted = sorted([[one for one in self._free if one in each] for each in groups], key=len)
        for place, free in enumerate(wanted):
            times = wanted[: place + 1].count(free)
            others = [one for one in free if one not in chosen]
            if others and len(free) - len(others) < times:
                chosen.append(others[0])
        return chosen

    def _choose(self, free: Sequence[Candidate], worker_id: str) -> Candidate:
        chosen = self._select(free, worker_id)
        if chosen is None or chosen not in free:
            raise ConfigurationError(
                f"the device selected for {worker_id} is none of the candidates: {chosen!r}",
                hint=Remedy(RemedyKind.SELECT_CANDIDATE),
            )
        return chosen

    def _add(self, hold: Hold, candidate: Candidate) -> None:
        self._holds[hold.key] = hold
        self._free.append(candidate)


class Spares:
    """Spare devices for tests that need several; requests are served whole, and in order.

    No worker holds part of a set while it waits for the rest, so there is no deadlock.
    """

    def __init__(self, leases: Sequence[Lease]) -> None:
        self.count = len(leases)
        self._broken = 0
        self._all = tuple(leases)
        self._free = list(leases)
        self._taken: dict[str, list[Lease]] = {}
        self._waiting: deque[tuple[str, int, Granted]] = deque()
        self._turn = threading.Lock()

    def ask(self, worker_id: str, count: int, granted: Granted) -> None:
        """Call ``granted`` with so many devices as soon as they are free.

        It is called with none if so many of them break that this becomes impossible.
        """
        with self._turn:
            if count > self.count:
                raise _too_few_spares(count, self.count, self._broken)
            if worker_id in self._taken:
                raise ConfigurationError(
                    "this test was given other devices before, and has them still",
                    hint="Ask once, for all the devices that the test needs.",
                )
            self._waiting.append((worker_id, count, granted))
            self._serve()

    def give_back(self, worker_id: str) -> None:
        """Free what this worker has, and forget what it waits for."""
        with self._turn:
            self._waiting = deque(one for one in self._waiting if one[0] != worker_id)
            returned = self._taken.pop(worker_id, [])
            self._free = [one for one in self._all if one in self._free or one in returned]
            self._serve()

    def put_aside(self, serial: str) -> None:
        """Stop using a device: it does not work."""
        with self._turn:
            self._all = tuple(one for one in self._all if one.serial != serial)
            self._free = [one for one in self._free if one in self._all]
            self._broken += self.count - len(self._all)
            self.count = len(self._all)
            for waiting in [one for one in self._waiting if one[1] > self.count]:
                self._waiting.remove(waiting)
                waiting[2]([])
            self._serve()

    def _serve(self) -> None:
        while self._waiting and self._waiting[0][1] <= len(self._free):
            worker_id, count, granted = self._waiting.popleft()
            self._taken[worker_id], self._free = self._free[:count], self._free[count:]
            granted(self._taken[worker_id])


def too_few(workers: int, candidates: Sequence[Candidate], *, spare: int = 0) -> NoDeviceError:
    """Return the error for more workers and spare devices than there are devices."""
    count = len(candidates)
    there = ", ".join(str(candidate.info) for candidate in candidates) or "none"
    needed = f"{workers} workers need {workers} devices, one each"
    if workers == 1:
        needed = "1 worker needs 1 device"
    if spare:
        needed += f", and {spare} more as spare devices"
    return NoDeviceError(
        f"{needed}, but there {'is' if count == 1 else 'are'} {count}: {there}",
        hint=_enough(count - spare, spare=spare),
        details={"workers": workers, "devices": [candidate.serial for candidate in candidates]},
    )


def _enough(workers: int, *, spare: int) -> Hint:
    """Return what to do about too few devices; there are enough for so many workers."""
    others: list[str | Remedy] = []
    if workers > 0:
        others += [Remedy(RemedyKind.START_FEWER_WORKERS, count=workers), ", "]
    if spare:
        others += [Remedy(RemedyKind.KEEP_FEWER_SPARES), ", "]
    connect = "connect more devices, or " if others else "Connect more devices, or "
    return (*others, connect, Remedy(RemedyKind.USE_SIMULATOR))


def _too_few_spares(count: int, spares: int, broken: int) -> ClawperatorError:
    kept = "no spare devices" if not spares else f"{spares} spare"
    wanted = f"{count + 1} devices are wanted by one test: its own and {count} more, and this run"
    if count <= spares + broken:
        return DeviceUnavailableError(
            f"{wanted} has {spares} spare: {broken} did not work and"
            f" {'was' if broken == 1 else 'were'} put aside",
            hint="See to the devices, and run the tests again.",
            details={"wanted": count, "spares": spares},
        )
    return ConfigurationError(
        f"{wanted} keeps {kept}",
        hint=Remedy(RemedyKind.KEEP_SPARES, count=count),
        details={"wanted": count, "spares": spares},
    )
