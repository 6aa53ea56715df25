"""Continuing a log where its stream broke: no line comes twice, and a gap is noticed.

The device is asked for what it logged from the last line's time on. If its clock was set back,
times do not tell what is new: then the whole log is read once, and the last lines that were
seen are looked for in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pytest_clawperator.contracts.log import is_divider, time_of

# Lines of one moment may come in another order the next time, but not from further away.
OVERLAP = 2000
# How far a clock may lag behind; the device tells its time in whole seconds.
_LAG = 2.0


@dataclass(frozen=True)
class Gap:
    """Two device times between which lines were logged that nobody has seen."""

    after: str
    before: str

    def __str__(self) -> str:
        return f"lost log lines between {self.after} and {self.before} (device time)"


class Continuation:
    """The lines around one break.

    ``since`` is the time from which to ask the device for more, ``entries`` how many of its
    newest entries to ask for instead.
    """

    entries: int | None = None

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

    @classmethod
    def after(cls, log: Sequence[bytes]) -> Continuation:
        """Go on after the whole log was read: all that is in it was seen, whatever its time."""
        last = next((line for line in reversed(log) if time_of(line)), b"")
        continuation = cls([last])
        continuation.since, continuation.entries = None, OVERLAP
        continuation.over = False
        continuation._seen = Counter(log)
        return continuation

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


def is_set_back(now: bytes, newest: bytes, last: bytes, *, elapsed: float) -> bool:
    """Whether the device's clock was set back, so that times do not tell what is new.

    ``now`` is its time, ``newest`` the latest that any line has, ``last`` that of the last
    line, which came so many seconds ago. A time that cannot be read tells nothing.
    """
    times = [_seconds(each) for each in (now, newest, last)]
    if any(time is None for time in times):
        return False
    shown, highest, latest = (time or 0.0 for time in times)
    return shown + _LAG < latest + elapsed or latest + _LAG < highest


def following(tail: Sequence[bytes], log: Sequence[bytes]) -> tuple[list[bytes], Gap | None]:
    """Return the lines of a whole log that are new after ``tail``, and what was lost, if so."""
    seen = Counter(line for line in tail if time_of(line))
    entries = [line for line in log if time_of(line)]
    first = next((at for at, line in enumerate(entries) if seen[line]), None)
    if first is None:
        last = next((line for line in reversed(tail) if time_of(line)), b"")
        return entries, _gap(last, entries[0]) if entries and last else None
    fresh = []
    for line in entries[first:]:
        if seen[line]:
            seen[line] -= 1
        else:
            fresh.append(line)
    return fresh, None


def _gap(last: bytes, first: bytes) -> Gap:
    return Gap((time_of(last) or b"").decode(), (time_of(first) or b"").decode())


def _seconds(time: bytes) -> float | None:
    """Return a time of the log in seconds; it has no year, so one with a 29 February is used."""
    try:
        parsed = datetime.strptime(f"2000-{time.decode()}", "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        return None
    return (parsed - datetime(2000, 1, 1)).total_seconds()
