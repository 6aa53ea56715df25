"""Which worker runs which test: only those whose device fits, and the longest tests first.

A worker of xdist begins a test only when it knows the next one, or that there is none: with one
test it waits, and what it knows as its next test cannot be taken back. So a worker has two tests,
the running one and the next, and all others wait here, where a retry, a crash or a failed phone
can still change who gets them. A worker for which nothing is left is told to shut down, because
nothing else lets it run its last test; only workers without any test are kept for what may return.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

from pytest_clawperator.plugin.xdist.backlog import ANY, Backlog

_NAMED = 3


class Node(Protocol):
    """What is asked of a worker of xdist, as its controller sees it.

    When the worker ended by itself, it has `workeroutput`; when it crashed, it has not.
    """

    gateway: Any

    @property
    def shutting_down(self) -> bool:
        """Whether it ended, or was told to."""

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        """Give it tests to run, by their numbers."""

    def shutdown(self) -> None:
        """Tell it to end after the tests it has."""


@dataclass(eq=False)
class _Worker:
    """A worker that is there: what it has to do, and what it was told."""

    node: Node
    bit: int  # its device, in sets of devices
    collection: list[str] | None = None  # None: it still collects
    pending: list[int] = field(default_factory=list)  # the running test, and the next
    began: float | None = None  # when the running test did
    promised: int | None = None  # its running test will be run once more, elsewhere
    is_told: bool = False  # to end after what it has
    is_refused: bool = False  # it collected other tests
    is_lost: bool = False  # it did not take what was sent to it

    @property
    def is_ready(self) -> bool:
        """Whether tests can be sent to it."""
        return not (self.is_told or self.is_leaving or self.collection is None)

    @property
    def is_leaving(self) -> bool:
        """Whether it crashed, or xdist ends the run, and its end is still to be told."""
        return not self.is_told and (self.is_lost or self.node.shutting_down)


class DeviceScheduling:
    """Deals out tests to workers by what their devices are, for `--dist load` of xdist.

    `workers` is how many there are at first; `device_of` gives the key of a worker's device (the
    same for its replacement), `fits` tells whether that device can run a test, `duration_of` what
    the test took in earlier runs. `replace_worker` asks for a new worker like one that has ended,
    and tells whether it will come. `say` gets what the user should know, `collection_error` the id
    of a worker that collected other tests and the difference.
    """

    def __init__(
        self,
        *,
        workers: int,
        device_of: Callable[[Any], Hashable | None],
        fits: Callable[[Any, str], bool],
        duration_of: Callable[[str], float | None],
        replace_worker: Callable[[Any], bool],
        say: Callable[[str], None],
        collection_error: Callable[[str, str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        #: What other plugins ask a scheduler for, such as pytest-rerunfailures after a crash.
        self.config: Any = None
        self._awaited_workers = workers
        self._device_of = device_of
        self._fits = fits
        self._duration_of = duration_of
        self._replace_worker = replace_worker
        self._say = say
        self._collection_error = collection_error
        self._clock = clock
        #: What tests took in this run, by their ids.
        self.seen: dict[str, float] = {}
        self._workers: dict[Any, _Worker] = {}
        self._bits: dict[Hashable, int] = {}
        self._learned = 0  # devices of which it is known what they can run
        self._failed = 0  # devices that were put aside
        self._bare = 0  # workers without a device
        self._gone: dict[int, Any] = {}  # workers that ended as they were told, by device
        self._coming: list[int] = []  # devices whose workers are being replaced
        self._collection: list[str] | None = None
        self._takers: list[int] = []  # of each test: the devices that can run it
        self._seconds: list[float] = []  # of each test: how long it may take
        self._backlog = Backlog([])
        self._is_stopped = False  # before all tests were run
        self._unfit: set[int] = set()  # tests that are only dealt out to be skipped
        self._retried: dict[int, int] = {}  # tests, and the devices that failed them
        self._unrun: set[int] = set()  # tests without a result

    # What xdist asks.

    @property
    def nodes(self) -> list[Any]:
        """The workers that are there."""
        return list(self._workers)

    @property
    def collection_is_completed(self) -> bool:
        """Whether all workers of the beginning have collected."""
        if self._collection is not None:
            return True
        count = sum(worker.collection is not None for worker in self._workers.values())
        return count >= max(self._awaited_workers, 1)

    @property
    def tests_finished(self) -> bool:
        """Whether every test was run, and those that are retried twice."""
        return self._collection is not None and not self.has_pending

    @property
    def has_pending(self) -> bool:
        """Whether a test waits or runs."""
        return bool(len(self._backlog)) or any(one.pending for one in self._workers.values())

    @property
    def unrun(self) -> list[str]:
        """The tests that were not run to their end, and whose retry did not take place."""
        return [self._collected[number] for number in sorted(self._unrun)]

    def add_node(self, node: Node) -> None:
        """Take in a worker, which now collects."""
        device = self._device_of(node)
        bit = self._bits.setdefault(
            ("worker", node.gateway.id) if device is None else device, 1 << len(self._bits)
        )
        self._bare |= bit if device is None else 0
        self._workers[node] = _Worker(node, bit)
        if self._coming:  # each that crashed has one successor, seldom with another device
            self._coming.remove(bit if bit in self._coming else self._coming[0])

    def add_node_collection(self, node: Node, collection: Sequence[str]) -> None:
        """Take in what a worker collected."""
        worker = self._workers[node]
        if self._collection is None:
            worker.collection = list(collection)
        elif self._is_same(worker, collection, self._collection, "the others"):
            worker.collection = list(collection)
            self._learn(worker)
        else:
            worker.is_refused = True
            self._tell_to_end(worker)
            self._deal_out()

    def schedule(self) -> None:
        """Deal out tests, to all workers at first and to new ones later."""
        if self._collection is None:
            self._start()
        self._deal_out()

    def mark_test_complete(self, node: Node, item_index: int, duration: float = 0) -> None:
        """Note that a worker ran a test, and give it another one."""
        worker = self._workers[node]
        worker.pending.remove(item_index)
        worker.began = self._clock() if worker.pending and worker.is_told else None
        if worker.promised == item_index:
            self._return_promised(worker)
        else:
            self._unrun.discard(item_index)
            if item_index not in self._unfit:
                self.seen[self._collected[item_index]] = duration
        self._deal_out()

    def mark_test_pending(self, item: str) -> None:
        """Let a test be run again, as others ask that handle crashes."""
        number = self._collected.index(item)
        self._unrun.add(number)
        self._let_wait([number])
        self._deal_out()

    def remove_node(self, node: Node) -> str | None:
        """Let go a worker that ended or crashed, and name the test that it crashed in."""
        worker = self._workers.pop(node)
        has_ended = getattr(node, "workeroutput", None) is not None
        if self._collection is None:
            self._awaited_workers -= has_ended  # one that crashed is replaced
            if self._workers and self.collection_is_completed:
                self.schedule()
            return None
        if not has_ended:
            self._coming.append(worker.bit)
        elif not worker.is_told:
            self._is_stopped |= worker.collection is not None  # by xdist, as with --maxfail
        elif not worker.is_refused:
            self._gone[worker.bit] = node
        crashed = self._take_back(worker)
        self._deal_out()
        return None if crashed is None else self._collected[crashed]

    # What only our own plugin asks.

    def device_failed(self, node: Node) -> None:
        """Note that the device of a worker was put aside: others get its tests, if any can."""
        if node in self._workers:
            self._failed |= self._workers[node].bit
            self._deal_out()

    def retry(self, node: Node, nodeid: str) -> bool:
        """Promise that the running test of a worker, whose device failed, is run once more.

        False: this was the second time, or no other device can run it.
        """
        worker = self._workers.get(node)
        number = worker.pending[0] if worker is not None and worker.pending else None
        if worker is None or number is None or self._collected[number] != nodeid:
            return False
        if worker.promised == number:
            return True
        others = self._takers[number] & ~worker.bit & ~self._failed
        if number in self._retried or not (
            others & self._hopes(leaving=False) or self._revive(others)
        ):
            return False
        self._retried[number] = worker.bit
        worker.promised = number
        return True

    # The beginning.

    @property
    def _collected(self) -> list[str]:
        return self._collection or []

    def _start(self) -> None:
        workers = [one for one in self._workers.values() if one.collection is not None]
        first = workers[0]
        tests, name = first.collection or [], first.node.gateway.id
        same = [self._is_same(one, one.collection or [], tests, name) for one in workers[1:]]
        self._collection = tests if all(same) else []
        known = [self._duration_of(nodeid) for nodeid in self._collection]
        typical = median([one for one in known if one is not None] or [1.0])
        self._seconds = [typical if one is None else one for one in known]
        self._backlog = Backlog(self._seconds)
        self._takers = [0] * len(self._collection)
        self._unrun = set(range(len(self._collection)))
        for worker in workers:
            self._learn(worker)
        self._settle_unfit()
        self._let_wait(range(len(self._collection)))

    def _is_same(
        self, worker: _Worker, collection: Sequence[str], expected: list[str], name: str
    ) -> bool:
        if list(collection) == expected:
            return True
        from xdist.report import report_collection_diff  # type: ignore[import-untyped]  # no types

        worker_id = worker.node.gateway.id
        text = report_collection_diff(expected, list(collection), name, worker_id)
        self._collection_error(worker_id, text or "")
        return False

    def _learn(self, worker: _Worker) -> None:
        """Find out which tests a worker's device can run."""
        if self._learned & worker.bit:
            return
        self._learned |= worker.bit
        for number, nodeid in enumerate(self._collected):
            if self._fits(worker.node, nodeid):
                self._takers[number] |= worker.bit
        self._let_wait(self._backlog.drop())

    def _settle_unfit(self) -> None:
        """Let any worker skip, with its reason, what none can run; and tell it before."""
        unfit = [number for number, takers in enumerate(self._takers) if not takers]
        for number in unfit:
            self._takers[number] = self._anybody
        self._unfit.update(unfit)
        if unfit:
            self._say(f"no device of this run fits: {self._named(unfit)}")

    @property
    def _anybody(self) -> int:
        """Give who can say why a test does not fit: workers that have a device, if any has."""
        with_device = ANY & ~self._bare
        return with_device if with_device & self._hopes() else ANY

    def _named(self, numbers: Sequence[int]) -> str:
        names = ", ".join(self._collected[number] for number in numbers[:_NAMED])
        return f"{names} and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else names

    # Dealing out.

    def _deal_out(self) -> None:
        """Give each worker a test before any gets its second, and end those that get none."""
        self._settle()
        ready = [one for one in self._workers.values() if one.is_ready]
        for worker in ready:
            if not worker.pending:
                self._give_test(worker)
        # What is long should wait behind what is short.
        single = [one for one in ready if len(one.pending) == 1]
        for worker in sorted(single, key=self._busy):
            if worker.is_ready and not self._give_test(worker):
                self._tell_to_end(worker)

    def _give_test(self, worker: _Worker) -> bool:
        """Send a worker one more test; False if there is none for it."""
        ready = {one.bit: self._busy(one) for one in self._workers.values() if one.is_ready}
        able, hopes = sum(ready), self._hopes()

        def takers(devices: int) -> int:
            healthy = devices & ~self._failed
            return able & (healthy if healthy & hopes else devices)

        number = self._backlog.take(worker.bit, free=ready, takers=takers)
        if number is None:
            return False
        try:
            worker.node.send_runtest_some([number])
        except OSError:  # it crashed: xdist is about to tell
            worker.is_lost = True
            self._let_wait([number])
        else:
            worker.pending.append(number)
            if len(worker.pending) > 1:
                worker.began = self._clock()
        return True

    def _tell_to_end(self, worker: _Worker) -> None:
        """Let a worker run the test it has, and end."""
        worker.is_told = True
        worker.began = self._clock()
        worker.node.shutdown()

    def _busy(self, worker: _Worker) -> float:
        """Estimate in how many seconds a worker will have done what it has."""
        seconds = sum(self._seconds[number] for number in worker.pending)
        if worker.began is None or not worker.pending:
            return seconds
        first = self._seconds[worker.pending[0]]
        # The longer a test is overdue, the longer it may still take.
        return seconds - first + abs(first - (self._clock() - worker.began))

    def _let_wait(self, numbers: Sequence[int]) -> None:
        self._backlog.add(numbers, self._takers.__getitem__)

    # What happens when workers end.

    def _hopes(self, *, told: bool = True, leaving: bool = True) -> int:
        """Give the devices whose workers are there, or will be, or can be replaced at their end."""
        hopes = 0
        for worker in self._workers.values():
            is_in = (told or not worker.is_told) and (leaving or not worker.is_leaving)
            if is_in and not worker.is_refused:
                hopes |= worker.bit
        for bit in self._coming:
            hopes |= bit
        return hopes

    def _settle(self) -> None:
        """Find somebody for the tests that all their workers left behind."""
        healthy = self._hopes(told=False) & ~self._failed
        # A device that failed is the last resort: its worker says what became of it.
        left = [
            devices
            for devices in self._backlog.sets
            if not devices & healthy
            and not self._is_reachable(devices & ~self._failed)
            and not self._is_reachable(devices)
        ]
        numbers = [number for devices in left for number in self._backlog.drop(devices)]
        if numbers and self._is_reachable(ANY):
            for number in numbers:
                self._widen(number)
            self._let_wait(numbers)
            self._settle()
        elif numbers and not self._is_stopped:
            self._say(f"no worker is left for tests that were not run: {self._named(numbers)}")

    def _is_reachable(self, devices: int) -> bool:
        """Tell whether one of these devices has a worker, or gets one that is asked for now."""
        if devices & self._hopes(told=False) or self._revive(devices):
            return True
        return bool(devices & self._hopes())  # a worker that was told can be replaced at its end

    def _widen(self, number: int) -> None:
        """Let also the device that failed have a test, or else any, which will skip it."""
        failed = self._retried.get(number, 0)
        if failed & ~self._takers[number]:
            self._takers[number] |= failed
        else:
            self._takers[number] = self._anybody
            self._unfit.add(number)

    def _revive(self, devices: int) -> bool:
        """Ask for a worker in place of one that ended too early, if there is any."""
        for bit in [bit for bit in self._gone if bit & devices]:
            if self._replace_worker(self._gone.pop(bit)):
                self._coming.append(bit)
                return True
        return False

    def _return_promised(self, worker: _Worker) -> None:
        number, worker.promised = worker.promised, None
        if number is not None:
            self._takers[number] &= ~worker.bit
            self._let_wait([number])

    def _take_back(self, worker: _Worker) -> int | None:
        """Let others do what a worker left, and give the test that it was running."""
        crashed = None
        if worker.began is not None and worker.pending:
            running = worker.pending.pop(0)
            if running == worker.promised:
                self._return_promised(worker)
            else:
                crashed = running
                self._unrun.discard(running)
        self._let_wait(worker.pending)
        return crashed
