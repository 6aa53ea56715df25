"""The workers of a run and the tests that wait for them, as the scheduler sees both."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import or_
from statistics import median
from typing import Any, Protocol

# Sets of devices are numbers with one bit for each device: many tests, few distinct sets.
ANY = -1


@dataclass
class _Group:
    """The waiting tests of one set of devices, the longest first."""

    tests: deque[tuple[float, int]] = field(default_factory=deque)
    seconds: float = 0.0

    def add(self, test: tuple[float, int]) -> None:
        """Put one test at its place."""
        if self.tests and test < self.tests[-1]:
            self.tests.insert(bisect(self.tests, test), test)
        else:
            self.tests.append(test)
        self.seconds -= test[0]

    def take(self, test: tuple[float, int]) -> int:
        """Take out one test, which is near one of the ends."""
        if self.tests[-1] == test:
            self.tests.pop()
        else:
            self.tests.remove(test)
        self.seconds += test[0]
        return test[1]


class Backlog:
    """The tests that no worker has yet, by the devices that can run them.

    `seconds` has how long each test may take, by its number.
    """

    def __init__(self, seconds: Sequence[float]) -> None:
        self._seconds = seconds
        self._groups: dict[int, _Group] = {}

    def __len__(self) -> int:
        return sum(len(group.tests) for group in self._groups.values())

    @property
    def sets(self) -> list[int]:
        """The sets of devices that tests wait for."""
        return list(self._groups)

    def add(self, tests: Sequence[int], devices: Callable[[int], int]) -> None:
        """Let tests wait for one of the devices that `devices` returns for each."""
        # In order, all but a few go to the end of their group.
        for test in sorted((-self._seconds[number], number) for number in tests):
            self._groups.setdefault(devices(test[1]), _Group()).add(test)

    def drop(self, devices: int | None = None) -> list[int]:
        """Take out the tests that wait for this set of devices, or all."""
        wanted = self.sets if devices is None else [devices]
        return [number for key in wanted for _, number in self._groups.pop(key).tests]

    def take(self, who: int, *, free: dict[int, float], takers: Callable[[int], int]) -> int | None:
        """Take out the test that one worker should have next; None: others do the rest sooner.

        `free` has in how many seconds each worker will have done what it has, and `takers`
        returns which of these workers can take the tests of a set of devices. What a worker is
        given waits behind what it has and cannot be taken back. Each test therefore goes in
        thought to the worker that is free first, and this one gets the first that falls to it.
        """
        able = [(takers(devices), group) for devices, group in self._groups.items()]
        mine = [two for two in able if two[0] & who]
        if not mine:
            return None
        rivals = reduce(or_, (devices for devices, _ in mine))
        free = {bit: seconds for bit, seconds in free.items() if bit & rivals}
        for devices, group in able:
            if devices & rivals and not devices & who:  # what only others can do
                for bit in free:
                    if devices & bit:
                        free[bit] += group.seconds / devices.bit_count()
        chosen = _falls_to(who, mine, free)
        if chosen is None and sum(len(group.tests) for _, group in mine) >= 2 * len(free):
            # Too early to do without this worker: what is short waits with least harm.
            chosen = max(((group.tests[-1], group) for _, group in mine), key=lambda two: two[0])
        return None if chosen is None else self._take(*chosen)

    def _take(self, test: tuple[float, int], group: _Group) -> int:
        number = group.take(test)
        if not group.tests:
            self._groups = {key: one for key, one in self._groups.items() if one.tests}
        return number


def _falls_to(
    who: int, groups: Sequence[tuple[int, _Group]], free: dict[int, float]
) -> tuple[tuple[float, int], _Group] | None:
    """Deal out the first tests of groups, and return the first that falls to this worker."""
    ahead = 2 * len(free)
    queues = [_ordered(able, group, ahead) for able, group in groups]
    for _, test, able, group in heapq.merge(*queues, key=lambda entry: entry[:2]):
        first = min((bit for bit in free if able & bit), key=lambda bit: (free[bit], bit != who))
        if first == who:
            return test, group
        free[first] -= test[0]
    return None


def _ordered(
    able: int, group: _Group, count: int
) -> Iterator[tuple[int, tuple[float, int], int, _Group]]:
    for test in islice(group.tests, count):
        yield able.bit_count(), test, able, group


class Node(Protocol):
    """A worker of xdist, as its controller sees it.

    When the worker ended by itself, it has `workeroutput`; when it crashed, it has not.
    """

    gateway: Any

    @property
    def shutting_down(self) -> bool:
        """Whether it has ended, or has been asked to."""

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        """Send it tests to run, by their numbers."""

    def shutdown(self) -> None:
        """Make it end after the tests it has."""


@dataclass(eq=False)
class Worker:
    """A worker: its tests, and its state."""

    node: Node
    bit: int  # its device, in sets of devices
    collection: list[str] | None = None  # None: it still collects
    pending: list[int] = field(default_factory=list)  # the running test, and the next
    began: float | None = None  # when the running test did
    promised: int | None = None  # its running test will be run once more, elsewhere
    is_shut_down: bool = False  # to end after what it has
    is_refused: bool = False  # it collected other tests
    is_lost: bool = False  # it did not take what was sent to it

    @property
    def is_ready(self) -> bool:
        """Whether tests can be sent to it."""
        return not (self.is_shut_down or self.is_leaving or self.collection is None)

    @property
    def is_leaving(self) -> bool:
        """Whether it crashed, or xdist ends the run, and xdist did not report that yet."""
        return not self.is_shut_down and (self.is_lost or self.node.shutting_down)


class Workforce:
    """The workers that are there, those that will come, and those that can be replaced.

    `device_of` returns the key of a worker's device, which is the same for its replacement.
    `replace_worker` asks for a new worker like one that has ended, and returns whether it will
    come.
    """

    def __init__(
        self,
        device_of: Callable[[Any], Hashable | None],
        replace_worker: Callable[[Any], bool],
    ) -> None:
        self._device_of = device_of
        self._replace_worker = replace_worker
        self._bits: dict[Hashable, int] = {}
        self._workers: dict[Any, Worker] = {}
        self._ended: dict[int, Any] = {}  # workers that were shut down, by device
        self._coming: list[int] = []  # devices whose workers are being replaced
        self._without_device = 0
        self._failed = 0

    @property
    def nodes(self) -> list[Any]:
        """The workers that are there, as xdist knows them."""
        return list(self._workers)

    @property
    def workers(self) -> list[Worker]:
        """The workers that are there."""
        return list(self._workers.values())

    @property
    def failed(self) -> int:
        """The devices that were put aside."""
        return self._failed

    def get(self, node: Node) -> Worker | None:
        """Return a worker; None if it is gone."""
        return self._workers.get(node)

    def add(self, node: Node) -> None:
        """Add a worker that has started."""
        device = self._device_of(node)
        bit = self._bits.setdefault(
            ("worker", node.gateway.id) if device is None else device, 1 << len(self._bits)
        )
        self._without_device |= bit if device is None else 0
        self._workers[node] = Worker(node, bit)
        if self._coming:  # each that crashed has one successor, seldom with another device
            self._coming.remove(bit if bit in self._coming else self._coming[0])

    def remove(self, node: Node) -> Worker:
        """Remove a worker that ended or crashed, and return it."""
        return self._workers.pop(node)

    def await_successor(self, worker: Worker) -> None:
        """Expect that xdist replaces a worker that crashed."""
        self._coming.append(worker.bit)

    def allow_successor(self, worker: Worker) -> None:
        """Remember a worker that was shut down: it can be replaced if necessary."""
        self._ended[worker.bit] = worker.node

    def device_failed(self, worker: Worker) -> None:
        """Note that the device of a worker was put aside."""
        self._failed |= worker.bit

    def devices(self, *, ending: bool = True, leaving: bool = True) -> int:
        """Return the devices whose workers are there or will come.

        Without `ending`, those that were shut down do not count; without `leaving`, those
        that are about to be reported as ended.
        """
        found = 0
        for worker in self._workers.values():
            is_in = (ending or not worker.is_shut_down) and (leaving or not worker.is_leaving)
            if is_in and not worker.is_refused:
                found |= worker.bit
        for bit in self._coming:
            found |= bit
        return found

    @property
    def any_device(self) -> int:
        """The devices whose workers can say why a test fits none: all with a device, if any."""
        with_device = ANY & ~self._without_device
        return with_device if with_device & self.devices() else ANY

    def is_reachable(self, devices: int) -> bool:
        """Whether one of these devices has a worker, or gets one that is asked for now."""
        if devices & self.devices(ending=False) or self.revive(devices):
            return True
        return bool(devices & self.devices())  # can be replaced at its end

    def revive(self, devices: int) -> bool:
        """Ask for a worker in place of one that ended too early; return whether it will come."""
        for bit in [bit for bit in self._ended if bit & devices]:
            if self._replace_worker(self._ended.pop(bit)):
                self._coming.append(bit)
                return True
        return False


_NAMED = 3


class CollectedTests:
    """The collected tests by their numbers, with the devices that can run each.

    Sets of devices are numbers, as in `Workforce`.
    """

    def __init__(self, tests: Sequence[str], duration_of: Callable[[str], float | None]) -> None:
        known = [duration_of(nodeid) for nodeid in tests]
        typical = median([one for one in known if one is not None] or [1.0])
        self.tests = list(tests)
        #: How long each test may take.
        self.seconds = [typical if one is None else one for one in known]
        #: The devices that can run each test.
        self.takers = [0] * len(self.tests)
        #: The tests that no worker has yet.
        self.backlog = Backlog(self.seconds)
        #: The tests without a result.
        self.unrun = set(range(len(self.tests)))
        #: The tests that are only assigned to be skipped.
        self.unfit: set[int] = set()
        #: The tests that are run once more, and the devices that failed them.
        self.retried: dict[int, int] = {}
        #: Those of them that had begun when the device failed.
        self.begun: set[int] = set()
        self._learned = 0

    def learn(self, bit: int, fits: Callable[[str], bool]) -> None:
        """Find out which tests a device can run; of a known device nothing is asked."""
        if self._learned & bit:
            return
        self._learned |= bit
        for number, nodeid in enumerate(self.tests):
            if fits(nodeid):
                self.takers[number] |= bit
        self.wait(self.backlog.drop())

    def wait(self, numbers: Sequence[int]) -> None:
        """Let tests wait for a device that can run them."""
        self.backlog.add(numbers, self.takers.__getitem__)

    def wait_once_more(self, number: int, *, failed: int) -> None:
        """Let a test wait for another device than the one that failed it."""
        self.takers[number] &= ~failed
        self.wait([number])

    def give_unfit_to(self, any_device: int) -> list[int]:
        """Assign what no device can run to any device, to be skipped; return these tests."""
        unfit = [number for number, takers in enumerate(self.takers) if not takers]
        for number in unfit:
            self.takers[number] = any_device
        self.unfit.update(unfit)
        return unfit

    def widen(self, number: int, any_device: int) -> None:
        """Add the device that failed to those that can have a test, or else any, which skips it."""
        failed = self.retried.get(number, 0)
        if failed & ~self.takers[number]:
            self.takers[number] |= failed
        else:
            self.takers[number] = any_device
            self.unfit.add(number)

    def named(self, numbers: Sequence[int]) -> str:
        """Return the names of some tests, for a message."""
        names = ", ".join(self.tests[number] for number in numbers[:_NAMED])
        return f"{names} and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else names
