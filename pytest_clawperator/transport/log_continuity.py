"""Continuing a log where its stream broke: no line comes twice, and a gap is noticed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pytest_clawperator.contracts.log import is_divider, time_of

# Lines of one moment may come in another order the next time, but not from further away.
OVERLAP = 2000


@dataclass(frozen=True)
class Gap:
    """Two device times between which lines were logged that nobody has seen."""

    after: str
    before: str

    def __str__(self) -> str:
        return f"lost log lines between {self.after} and {self.before} (device time)"


class Continuation:
    """The lines around one break. ``since`` is the time from which to ask the device for more."""

    def __init__(self, tail: list[bytes]) -> None:
        tail = tail[-OVERLAP:]
        times = {line: time for line in tail if (time := time_of(line))}
        entries = [line for line in tail if line in times]
        self.gap: Gap | None = None
        self.over = not entries
        self.since = times[entries[-1]] if entries else None
        self._last = entries[-1] if entries else b""
        self._seen = Counter(line for line in entries if times[line] >= times[self._last])
        self._newest = max((times[line] for line in self._seen), default=b"")

    def unseen(self, lines: list[bytes]) -> list[bytes]:
        """Leave out what was seen before; over with the first line later than all of that."""
        fresh: list[bytes] = []
        for at, line in enumerate(lines):
            if self._seen[line]:
                self._seen[line] -= 1
                continue
            time = time_of(line)
            if time is not None and time > self._newest:
                self._finish(time)
                return fresh + lines[at:]
            if not is_divider(line):
                fresh.append(line)
        return fresh

    def _finish(self, now: bytes) -> None:
        self.over = True
        if self._seen[self._last] and self.since is not None:
            self.gap = Gap(self.since.decode(), now.decode())
