"""The newest lines of a log, numbered from its beginning, as many as fit."""

from __future__ import annotations

# What a kept line costs beside its bytes.
_LINE_COST = 41


class Ring:
    """Lines by their absolute numbers. Not locked: threads that share one need a lock."""

    def __init__(self, capacity: int) -> None:
        self.kept_from = 0
        self.end = 0
        self._capacity = capacity
        self._size = 0
        self._lines: list[bytes] = []

    def append(self, lines: list[bytes]) -> None:
        """Add lines at the end; the oldest go when there are too many bytes."""
        self._lines += lines
        self._size += sum(map(len, lines)) + _LINE_COST * len(lines)
        if self._size > self._capacity:
            self._drop_oldest()
        self.end += len(lines)

    def read(self, start: int, end: int | None = None) -> list[bytes]:
        """Return the lines from one number up to another; those no longer kept are left out."""
        first = max(start - self.kept_from, 0)
        last = None if end is None else max(end - self.kept_from, 0)
        return self._lines[first:last]

    def _drop_oldest(self) -> None:
        # A quarter at once: shifting the rest of a long list for each line would be slow.
        goal = self._capacity * 3 // 4
        count = 0
        for line in self._lines:
            if self._size <= goal:
                break
            self._size -= len(line) + _LINE_COST
            count += 1
        del self._lines[:count]
        self.kept_from += count
