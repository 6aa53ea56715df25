"""Tests that wait for a worker: those with fewest takers first, then the longest."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import or_

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
