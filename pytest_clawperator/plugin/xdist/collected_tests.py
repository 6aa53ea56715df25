"""The tests of a run: which devices can run each, how long it takes, and which still wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from pytest_clawperator.plugin.xdist.backlog import Backlog

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
        #: The tests that are only dealt out to be skipped.
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

    def give_unfit_to(self, anybody: int) -> list[int]:
        """Give what no device can run to anybody, to be skipped; return these tests."""
        unfit = [number for number, takers in enumerate(self.takers) if not takers]
        for number in unfit:
            self.takers[number] = anybody
        self.unfit.update(unfit)
        return unfit

    def widen(self, number: int, anybody: int) -> None:
        """Add the device that failed to those that can have a test, or else any, which skips it."""
        failed = self.retried.get(number, 0)
        if failed & ~self.takers[number]:
            self.takers[number] |= failed
        else:
            self.takers[number] = anybody
            self.unfit.add(number)

    def named(self, numbers: Sequence[int]) -> str:
        """Return the names of some tests, for a message."""
        names = ", ".join(self.tests[number] for number in numbers[:_NAMED])
        return f"{names} and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else names
