"""The scheduler that xdist asks: only devices that fit get a test, and long tests go first."""

from __future__ import annotations

import heapq
import math
import time
from bisect import bisect
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import or_
from statistics import median
from typing import Any

import pytest

from pytest_clawperator.plugin.run import named

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


# A worker of xdist, as its controller sees it; one that ended by itself has `workeroutput`.
Node = Any


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
        #: The workers that are there, as xdist knows them.
        self.by_node: dict[Node, Worker] = {}
        #: The devices that were put aside.
        self.failed = 0
        self._ended: dict[int, Any] = {}  # workers that were shut down, by device
        self._coming: list[int] = []  # devices whose workers are being replaced
        self._without_device = 0

    @property
    def workers(self) -> list[Worker]:
        """The workers that are there."""
        return list(self.by_node.values())

    def add(self, node: Node) -> None:
        """Add a worker that has started."""
        device = self._device_of(node)
        bit = self._bits.setdefault(
            ("worker", node.gateway.id) if device is None else device, 1 << len(self._bits)
        )
        self._without_device |= bit if device is None else 0
        self.by_node[node] = Worker(node, bit)
        if self._coming:  # each that crashed has one successor, seldom with another device
            self._coming.remove(bit if bit in self._coming else self._coming[0])

    def await_successor(self, worker: Worker) -> None:
        """Expect that xdist replaces a worker that crashed."""
        self._coming.append(worker.bit)

    def allow_successor(self, worker: Worker) -> None:
        """Remember a worker that was shut down: it can be replaced if necessary."""
        self._ended[worker.bit] = worker.node

    def devices(self, *, ending: bool = True, leaving: bool = True) -> int:
        """Return the devices whose workers are there or will come.

        Without `ending`, those that were shut down do not count; without `leaving`, those
        that are about to be reported as ended.
        """
        found = 0
        for worker in self.workers:
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


class Dealer:
    """Deals out the tests of a run.

    A worker of xdist begins a test only when it knows the next one, or that there is none:
    with one test it waits, and what it knows as its next test cannot be taken back. So a worker
    has two tests, the running one and the next, and all others wait here, where a retry, a
    crash or a failed phone can still change who gets them. A worker for which nothing is left
    is shut down, because only that lets it run its last test; only workers without
    any test are kept for what may return.
    """

    def __init__(
        self,
        workforce: Workforce,
        tests: CollectedTests,
        *,
        show: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self._workforce = workforce
        self._tests = tests
        self._show = show
        self._clock = clock
        #: Whether xdist stopped the run before all tests were run.
        self.is_stopped = False

    def deal_out(self) -> None:
        """Give each worker a test before any gets its second, and end those that get none."""
        self._find_takers()
        ready = [one for one in self._workforce.workers if one.is_ready]
        for worker in ready:
            if not worker.pending:
                self._give_test(worker)
        # What is long should wait behind what is short.
        single = [one for one in ready if len(one.pending) == 1]
        for worker in sorted(single, key=self._busy):
            if worker.is_ready and not self._give_test(worker):
                self.shut_down(worker)

    def shut_down(self, worker: Worker) -> None:
        """Let a worker run the test it has, and end."""
        worker.is_shut_down = True
        worker.began = self._clock()
        worker.node.shutdown()

    def _give_test(self, worker: Worker) -> bool:
        """Send a worker one more test; False if there is none for it."""
        ready = {one.bit: self._busy(one) for one in self._workforce.workers if one.is_ready}
        able, there = sum(ready), self._workforce.devices()

        def takers(devices: int) -> int:
            healthy = devices & ~self._workforce.failed
            return able & (healthy if healthy & there else devices)

        number = self._tests.backlog.take(worker.bit, free=ready, takers=takers)
        if number is None:
            return False
        try:
            worker.node.send_runtest_some([number])
        except OSError:  # it crashed, which xdist is about to report
            worker.is_lost = True
            self._tests.wait([number])
        else:
            worker.pending.append(number)
            if len(worker.pending) > 1:
                worker.began = self._clock()
        return True

    def _busy(self, worker: Worker) -> float:
        """Estimate in how many seconds a worker will have done what it has."""
        seconds = sum(self._tests.seconds[number] for number in worker.pending)
        if worker.began is None or not worker.pending:
            return seconds
        first = self._tests.seconds[worker.pending[0]]
        # The longer a test is overdue, the longer it may still take.
        return seconds - first + abs(first - (self._clock() - worker.began))

    def _find_takers(self) -> None:
        """Find workers for the tests whose own workers are all gone."""
        workforce, tests = self._workforce, self._tests
        healthy = workforce.devices(ending=False) & ~workforce.failed
        # A device that failed is the last resort: its worker reports the error.
        left = [
            devices
            for devices in tests.backlog.sets
            if not devices & healthy
            and not workforce.is_reachable(devices & ~workforce.failed)
            and not workforce.is_reachable(devices)
        ]
        numbers = [number for devices in left for number in tests.backlog.drop(devices)]
        if numbers and workforce.is_reachable(ANY):
            for number in numbers:
                tests.widen(number, workforce.any_device)
            tests.wait(numbers)
            self._find_takers()
        elif numbers and not self.is_stopped:
            unrun = named([tests.tests[number] for number in numbers])
            self._show(f"no worker is left for tests that were not run: {unrun}")


class DeviceScheduling:
    """Deals out tests to workers by what their devices are, for `--dist load` of xdist.

    `workers` is how many there are at first; `device_of` returns the key of a worker's device
    (the same for its replacement), `fits` whether that device can run a test, `duration_of` what
    the test took in earlier runs. `replace_worker` asks for a new worker like one that has ended,
    and returns whether it will come. `show` gets what the user should know, `collection_error`
    the id of a worker that collected other tests and the difference.
    """

    def __init__(
        self,
        *,
        workers: int,
        device_of: Callable[[Any], Hashable | None],
        fits: Callable[[Any, str], bool],
        duration_of: Callable[[str], float | None],
        replace_worker: Callable[[Any], bool],
        show: Callable[[str], None],
        collection_error: Callable[[str, str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        #: What other plugins ask a scheduler for, such as pytest-rerunfailures after a crash.
        self.config: Any = None
        #: What tests took in this run, by their ids.
        self.seen: dict[str, float] = {}
        self._awaited_workers = workers
        self._fits = fits
        self._duration_of = duration_of
        self._show = show
        self._collection_error = collection_error
        self._clock = clock
        self._workforce = Workforce(device_of, replace_worker)
        self._use_tests([])
        self._has_begun = False

    # What xdist asks.

    @property
    def nodes(self) -> list[Any]:
        """The workers that are there."""
        return list(self._workforce.by_node)

    @property
    def collection_is_completed(self) -> bool:
        """Whether all workers of the beginning have collected."""
        if self._has_begun:
            return True
        count = sum(worker.collection is not None for worker in self._workforce.workers)
        return count >= max(self._awaited_workers, 1)

    @property
    def tests_finished(self) -> bool:
        """Whether every test was run, and those that are retried twice."""
        return self._has_begun and not self.has_pending

    @property
    def has_pending(self) -> bool:
        """Whether a test waits or runs."""
        is_running = any(one.pending for one in self._workforce.workers)
        return bool(len(self._tests.backlog)) or is_running

    def add_node(self, node: Node) -> None:
        """Add a worker, which now collects."""
        self._workforce.add(node)

    def add_node_collection(self, node: Node, collection: Sequence[str]) -> None:
        """Add what a worker collected."""
        worker = self._workforce.by_node[node]
        if not self._has_begun:
            worker.collection = list(collection)
        elif self._is_same(worker, collection, self._tests.tests, "the others"):
            worker.collection = list(collection)
            self._learn(worker)
        else:
            worker.is_refused = True
            self._dealer.shut_down(worker)
            self._dealer.deal_out()

    def schedule(self) -> None:
        """Deal out tests, to all workers at first and to new ones later."""
        if not self._has_begun:
            self._begin()
        self._dealer.deal_out()

    def mark_test_complete(self, node: Node, item_index: int, duration: float = 0) -> None:
        """Note that a worker ran a test, and give it another one."""
        worker, tests = self._workforce.by_node[node], self._tests
        worker.pending.remove(item_index)
        worker.began = self._clock() if worker.pending and worker.is_shut_down else None
        if worker.promised == item_index:
            self._keep_promise(worker)
        else:
            tests.unrun.discard(item_index)
            if item_index not in tests.unfit:
                self.seen[tests.tests[item_index]] = duration
        self._dealer.deal_out()

    def mark_test_pending(self, item: str) -> None:
        """Let a test be run again, as plugins ask that handle crashes."""
        number = self._tests.tests.index(item)
        self._tests.unrun.add(number)
        self._tests.wait([number])
        self._dealer.deal_out()

    def remove_node(self, node: Node) -> str | None:
        """Remove a worker that ended or crashed, and return the test that it crashed in."""
        worker = self._workforce.by_node.pop(node)
        has_ended = getattr(node, "workeroutput", None) is not None
        if not self._has_begun:
            self._awaited_workers -= has_ended  # one that crashed is replaced
            if self._workforce.workers and self.collection_is_completed:
                self.schedule()
            return None
        if not has_ended:
            self._workforce.await_successor(worker)
        elif not worker.is_shut_down:  # by us, but by xdist, as with --maxfail
            self._dealer.is_stopped |= worker.collection is not None
        elif not worker.is_refused:
            self._workforce.allow_successor(worker)
        crashed = self._take_back(worker)
        self._dealer.deal_out()
        return None if crashed is None else self._tests.tests[crashed]

    # What only our own plugin asks.

    @property
    def unrun(self) -> list[str]:
        """The tests that were not run to their end, and whose retry did not take place."""
        return [self._tests.tests[number] for number in sorted(self._tests.unrun)]

    def device_failed(self, node: Node) -> None:
        """Note that the device of a worker was put aside: others get its tests, if any can."""
        worker = self._workforce.by_node.get(node)
        if worker is not None:
            self._workforce.failed |= worker.bit
            self._dealer.deal_out()

    def retry(self, node: Node, nodeid: str, *, has_begun: bool = True) -> bool:
        """Promise that the running test of a worker, whose device failed, is run once more.

        False: this was the second time that it had begun, or no other device can run it.
        """
        tests, workforce = self._tests, self._workforce
        worker = workforce.by_node.get(node)
        number = worker.pending[0] if worker is not None and worker.pending else None
        if worker is None or number is None or tests.tests[number] != nodeid:
            return False
        if worker.promised == number:
            return True
        others = tests.takers[number] & ~worker.bit & ~workforce.failed
        if (has_begun and number in tests.begun) or not (
            others & workforce.devices(leaving=False) or workforce.revive(others)
        ):
            return False
        if has_begun:
            tests.begun.add(number)
        tests.retried[number] = worker.bit
        worker.promised = number
        return True

    # The beginning.

    def _begin(self) -> None:
        workers = [one for one in self._workforce.workers if one.collection is not None]
        first = workers[0]
        tests, name = first.collection or [], first.node.gateway.id
        same = [self._is_same(one, one.collection or [], tests, name) for one in workers[1:]]
        self._use_tests(tests if all(same) else [])
        self._has_begun = True
        for worker in workers:
            self._learn(worker)
        self._tests.give_unfit_to(self._workforce.any_device)
        self._tests.wait(range(len(self._tests.tests)))

    def _use_tests(self, tests: Sequence[str]) -> None:
        self._tests = CollectedTests(tests, self._duration_of)
        self._dealer = Dealer(self._workforce, self._tests, show=self._show, clock=self._clock)

    def _is_same(
        self, worker: Worker, collection: Sequence[str], expected: list[str], name: str
    ) -> bool:
        if list(collection) == expected:
            return True
        # xdist is optional, and this module is imported without it, too.
        from xdist.report import report_collection_diff  # type: ignore[import-untyped]  # no types

        worker_id = worker.node.gateway.id
        text = report_collection_diff(expected, list(collection), name, worker_id)
        self._collection_error(worker_id, text or "")
        return False

    def _learn(self, worker: Worker) -> None:
        self._tests.learn(worker.bit, lambda nodeid: self._fits(worker.node, nodeid))

    # When a worker is done with a test, or leaves it behind.

    def _keep_promise(self, worker: Worker) -> None:
        number, worker.promised = worker.promised, None
        if number is not None:
            self._tests.wait_once_more(number, failed=worker.bit)

    def _take_back(self, worker: Worker) -> int | None:
        """Let others do what a worker left, and return the test that it was running."""
        crashed = None
        if worker.began is not None and worker.pending:
            running = worker.pending.pop(0)
            if running == worker.promised:
                self._keep_promise(worker)
            else:
                crashed = running
                self._tests.unrun.discard(running)
        self._tests.wait(worker.pending)
        return crashed


_KEY = "clawperator/durations"

_DAY = 86_400

# What was not run for a quarter of a year is most likely gone or renamed.
_KEPT_DAYS = 90


def load_durations(config: pytest.Config) -> Mapping[str, float]:
    """Return the seconds that tests took in earlier runs, by their ids."""
    return {nodeid: seconds for nodeid, (seconds, _) in _entries(config).items()}


def save_durations(config: pytest.Config, seen: Mapping[str, float]) -> None:
    """Add what tests took in this run: half of it counts, half of what was known before.

    Workers write nothing: their controller knows it all.
    """
    cache = getattr(config, "cache", None)
    if cache is None or not seen or hasattr(config, "workerinput"):
        return
    today = int(time.time() // _DAY)
    entries = {
        nodeid: entry for nodeid, entry in _entries(config).items() if today - entry[1] < _KEPT_DAYS
    }
    for nodeid, seconds in seen.items():
        before, _ = entries.get(nodeid, (seconds, today))
        entries[nodeid] = (round((before + seconds) / 2, 3), today)
    cache.set(_KEY, entries)


def _entries(config: pytest.Config) -> dict[str, tuple[float, int]]:
    cache = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    stored: Any = None if cache is None else cache.get(_KEY, None)
    if not isinstance(stored, dict):
        return {}
    return {nodeid: (entry[0], entry[1]) for nodeid, entry in stored.items() if _is_entry(entry)}


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, list) or len(entry) != 2 or type(entry[1]) is not int:
        return False
    return type(entry[0]) in (int, float) and math.isfinite(entry[0]) and entry[0] >= 0
