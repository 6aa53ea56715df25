"""The devices of a run: leased for all of it, each used by one worker at a time."""

from __future__ import annotations

import threading
from collections import Counter, deque
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


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Devices, by their keys, of which workers should have at least ``count``.

    ``weight`` is how much depends on each of them, such as the number of tests.
    """

    keys: frozenset[str]
    count: int = 1
    weight: int = 1


# A class of a matrix counts more than the markers of tests.
_CLASS_WEIGHT = 1_000_000


def demands_of(groups: Iterable[Sequence[Candidate]]) -> list[Demand]:
    """Return the demands of groups that want one device each; a group given twice wants two."""
    times = Counter(frozenset(one.info.key for one in group) for group in groups)
    return [Demand(keys=keys, count=n, weight=_CLASS_WEIGHT) for keys, n in times.items()]


def _shortfall(devices: Iterable[Candidate], demands: Iterable[Demand]) -> int:
    """Return the weight of what these devices leave unmet."""
    keys = {one.info.key for one in devices}
    return sum(each.weight * max(0, each.count - len(each.keys & keys)) for each in demands)


def _least_needed(
    devices: Sequence[Candidate], count: int, demands: Sequence[Demand]
) -> list[Candidate]:
    """Return so many devices that the others can best do without, those needed least first.

    Of equals the last is taken.
    """
    left, gone = list(devices), list[Candidate]()

    def need(one: Candidate) -> tuple[int, int]:
        meets = sum(each.weight for each in demands if one.info.key in each.keys)
        return _shortfall([each for each in left if each != one], demands), meets

    while left and len(gone) < count:
        gone.append(min(reversed(left), key=need))
        left.remove(gone[-1])
    return gone


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
        self._reserved: list[Candidate] = []
        self._put_aside: set[str] = set()
        # Workers ask in threads of their own while others still start.
        self._turn = threading.RLock()

    @property
    def held(self) -> tuple[Candidate, ...]:
        """The devices that this run has leased."""
        return tuple(one for one in self.candidates if one.info.key in self._holds)

    @property
    def free(self) -> tuple[Candidate, ...]:
        """The devices that are held and that no worker has."""
        return tuple(self._free)

    @property
    def reserved(self) -> tuple[Candidate, ...]:
        """The devices that are kept from the workers."""
        return tuple(self._reserved)

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
        beyond = max(0, len(self._holds) - count)
        for gone in _least_needed(self._free, beyond, demands_of(groups)):
            self._free.remove(gone)
            self._release([gone])

    def take(
        self, worker_id: str, *, fits: Callable[[DeviceInfo], bool] = lambda info: True
    ) -> Lease:
        """Assign a free device to this worker."""
        with self._turn:
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
        with self._turn:
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
        ordered = sorted(self._free, key=lambda one: one.info.key)
        least = _least_needed(ordered, count, demands_of(groups))
        self._reserved = [one for one in ordered if one in least]
        self._free = [one for one in self._free if one not in self._reserved]
        return self._reserved

    def exchange(self, demands: Sequence[Demand]) -> dict[str, Candidate]:
        """Give the workers the devices that meet more of the demands, instead of others.

        They come from those that are reserved, and from those that are free and not held.
        Return the workers whose device has changed, with the device that each had.
        """
        with self._turn:
            added = self._hold_missing(demands)
            usable = [*self._taken.values(), *self._free]
            everything = [*usable, *self._reserved, *added]
            without = _least_needed(everything, len(self._reserved) + len(added), demands)
            within = [one for one in everything if one not in without]
            if _shortfall(within, demands) >= _shortfall(usable, demands):
                self._release(added)
                return {}
            coming = [one for one in within if one not in usable]
            had = {who: one for who, one in self._taken.items() if one in without}
            self._free = [one for one in self._free if one not in without]
            self._taken.update((who, coming.pop(0)) for who in had)
            self._free += coming
            self._release(without[: len(added)])
            self._reserved = without[len(added) :]
            return had

    def _hold_missing(self, demands: Sequence[Demand]) -> list[Candidate]:
        """Hold further devices that are free and meet what those of this run do not meet."""
        added = []
        for each in demands:
            for one in self.candidates:
                key = one.info.key
                if key not in each.keys or not _shortfall(self.held, [each]):
                    continue
                if key not in self._holds and (hold := self._store.try_take(key)) is not None:
                    self._holds[key] = hold
                    added.append(one)
        return added

    def _release(self, devices: Iterable[Candidate]) -> None:
        for one in devices:
            self._holds.pop(one.info.key).release()

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
