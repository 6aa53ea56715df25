"""The time on a phone, and what is due at some later time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

_MAX_RUNS = 1000


class _Entry(NamedTuple):
    due: float
    number: int  # no two entries have the same, so owner and act are never compared
    owner: object
    act: Callable[[], object]


class Timeline:
    """The phone's time, and planned calls; each belongs to an owner that may go away before.

    Time passes only when ``advance`` is called; ``on_planned`` is called when something is
    planned that comes before everything else.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.now = clock()
        self.on_planned: Callable[[], None] = lambda: None
        self._entries: list[_Entry] = []
        self._count = 0

    def at(self, due: float, act: Callable[[], object], *, owner: object) -> None:
        """Plan a call; calls due at the same time are made in the order of planning."""
        self._count += 1
        heapq.heappush(self._entries, _Entry(due, self._count, owner, act))
        if self._entries[0].number == self._count:
            self.on_planned()

    @property
    def next_due(self) -> float | None:
        """When the next planned call is due; None where nothing is planned."""
        return self._entries[0].due if self._entries else None

    def after(self, delay: float, act: Callable[[], object], *, owner: object) -> None:
        """Plan a call in ``delay`` seconds."""
        self.at(self.now + delay, act, owner=owner)

    def cancel(self, owner: object) -> None:
        """Drop the planned calls of an owner."""
        kept = [entry for entry in self._entries if entry.owner is not owner]
        if len(kept) != len(self._entries):
            self._entries = kept
            heapq.heapify(kept)

    def advance(self) -> None:
        """Go on to the clock's time and make the calls that are due, each at its own time.

        A call that keeps planning itself anew is made a limited number of times; what is left
        waits for the next ``advance``.
        """
        time = self._clock()
        done = 0
        while self._entries and self._entries[0].due <= time and done < _MAX_RUNS:
            entry = heapq.heappop(self._entries)
            self.now = max(self.now, entry.due)
            entry.act()
            done += 1
        self.now = max(self.now, time)
