"""The scheduler that xdist asks: only devices that fit get a test, and long tests go first."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import pytest

from pytest_clawperator.plugin.workforce import ANY, CollectedTests, Node, Worker, Workforce


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
            self._show(f"no worker is left for tests that were not run: {tests.named(numbers)}")


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
        return self._workforce.nodes

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
        worker = self._worker(node)
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
        worker, tests = self._worker(node), self._tests
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
        worker = self._workforce.remove(node)
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
        worker = self._workforce.get(node)
        if worker is not None:
            self._workforce.device_failed(worker)
            self._dealer.deal_out()

    def retry(self, node: Node, nodeid: str, *, has_begun: bool = True) -> bool:
        """Promise that the running test of a worker, whose device failed, is run once more.

        False: this was the second time that it had begun, or no other device can run it.
        """
        worker, tests, workforce = self._workforce.get(node), self._tests, self._workforce
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

    def _worker(self, node: Node) -> Worker:
        worker = self._workforce.get(node)
        assert worker is not None, "xdist speaks of workers that it added"
        return worker

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
