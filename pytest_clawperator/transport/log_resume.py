"""Going on with a log where its stream broke: what was seen is left out, what is lost is told."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

# Lines of one moment may come in another order the next time, but not from further away.
OVERLAP = 2000

_TIME = re.compile(rb"\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?= )")
_DIVIDER = b"--------- beginning of "


@dataclass(frozen=True)
class Gap:
    """Two device times between which lines were logged that nobody has seen."""

    after: str
    before: str

    def __str__(self) -> str:
        return f"lost log lines between {self.after} and {self.before} (device time)"


def is_log_line(line: bytes) -> bool:
    """Tell whether logcat printed this, and not the shell."""
    return _TIME.match(line) is not None or line.startswith(_DIVIDER)


class Resume:
    """The lines around one break. ``since`` is the time to ask the device for."""

    def __init__(self, tail: list[bytes]) -> None:
        tail = tail[-OVERLAP:]
        times = {line: found[0] for line in tail if (found := _TIME.match(line))}
        told = [line for line in tail if line in times]
        self.gap: Gap | None = None
        self.over = not told
        self.since = times[told[-1]] if told else None
        self._last = told[-1] if told else b""
        self._seen = Counter(line for line in told if times[line] >= times[self._last])
        self._newest = max((times[line] for line in self._seen), default=b"")

    def unseen(self, lines: list[bytes]) -> list[bytes]:
        """Leave out what was seen before; over with the first line later than all of that."""
        fresh: list[bytes] = []
        for at, line in enumerate(lines):
            if self._seen[line]:
                self._seen[line] -= 1
                continue
            found = _TIME.match(line)
            if found is not None and found[0] > self._newest:
                self._finish(found[0])
                return fresh + lines[at:]
            if not line.startswith(_DIVIDER):
                fresh.append(line)
        return fresh

    def _finish(self, now: bytes) -> None:
        self.over = True
        if self._seen[self._last] and self.since is not None:
            self.gap = Gap(self.since.decode(), now.decode())
