"""What is due at some later time of the phone's clock."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

_MAX_RUNS = 1000


@dataclass(order=True)
class _Entry:
    due: float
    number: int
    owner: object = field(compare=False)
    act: Callable[[], object] = field(compare=False)


class Schedule:
    """Things to do later, each belonging to something that may go away before."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._count = 0

    def add(self, due: float, act: Callable[[], object], *, owner: object) -> None:
        """Plan something; what is due first comes first, then what was planned first."""
        self._count += 1
        heapq.heappush(self._entries, _Entry(due, self._count, owner, act))

    def cancel(self, owner: object) -> None:
        """Drop what belongs to an owner."""
        kept = [entry for entry in self._entries if entry.owner is not owner]
        if len(kept) != len(self._entries):
            self._entries = kept
            heapq.heapify(kept)

    def next_due(self) -> float | None:
        """Give when the next thing is due."""
        return self._entries[0].due if self._entries else None

    def run_until(self, now: float, enter: Callable[[float], None]) -> bool:
        """Do what is due by now, each at its own time; tell whether there was anything.

        ``enter`` is told the time before each. What keeps planning itself anew is done so many
        times and then left for the next call.
        """
        done = 0
        while self._entries and self._entries[0].due <= now and done < _MAX_RUNS:
            entry = heapq.heappop(self._entries)
            enter(entry.due)
            entry.act()
            done += 1
        return done > 0
