"""Tests dealt out to workers: the longest first, and nobody ends while there is work for it."""

from __future__ import annotations

from collections.abc import Callable

from pytest_clawperator.plugin.xdist.backlog import ANY
from pytest_clawperator.plugin.xdist.collected_tests import CollectedTests
from pytest_clawperator.plugin.xdist.workforce import Worker, Workforce


class Dealer:
    """Deals out the tests of a run.

    A worker of xdist begins a test only when it knows the next one, or that there is none:
    with one test it waits, and what it knows as its next test cannot be taken back. So a worker
    has two tests, the running one and the next, and all others wait here, where a retry, a
    crash or a failed phone can still change who gets them. A worker for which nothing is left
    is told to shut down, because nothing else lets it run its last test; only workers without
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
                self.tell_to_end(worker)

    def tell_to_end(self, worker: Worker) -> None:
        """Let a worker run the test it has, and end."""
        worker.is_told = True
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
        """Find somebody for the tests that all their workers left behind."""
        workforce, tests = self._workforce, self._tests
        healthy = workforce.devices(told=False) & ~workforce.failed
        # A device that failed is the last resort: its worker reports what became of it.
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
                tests.widen(number, workforce.anybody)
            tests.wait(numbers)
            self._find_takers()
        elif numbers and not self.is_stopped:
            self._show(f"no worker is left for tests that were not run: {tests.named(numbers)}")
