"""The log of a simulated phone: logd's ring buffers, and how Timber and logd cut long messages."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

PRIORITIES = "VDIWEF"
"""Priority letters in rising order."""

BUFFERS = ("main", "radio", "events", "system", "crash", "stats", "security", "kernel")
"""Every buffer's name, by its number in liblog."""

SMALLEST_BUFFER = 64 * 1024
"""Bytes that a buffer holds at least."""

MAX_PAYLOAD = 4068
"""Bytes that logd keeps of one entry: priority, tag, NUL, message, NUL."""

TIMBER_PIECE = 4000
"""UTF-16 units at which Timber's debug tree begins to cut a message."""

DEFAULT_CAPACITY = 4 * 1024 * 1024
_ENTRY_OVERHEAD = 28 + 3  # logger_entry; the priority and two NULs of the payload
_MAX_SIZE = 28 + MAX_PAYLOAD
_number = attrgetter("number")


class LogLine(NamedTuple):
    """One entry.

    What is not valid UTF-8 after the byte cap stands in ``message`` as surrogate escapes, so that
    ``message.encode("utf-8", "surrogateescape")`` gives the very bytes that logd holds.
    """

    number: int
    time: float
    pid: int
    tid: int
    priority: str
    tag: str
    message: str
    buffer: str
    first: int
    """The number of the first entry of one writing, whose entries differ in their text alone."""
    size: int
    """Bytes that it takes up in its ring."""


class LogBuffer:
    """The ring buffers of one device; every entry has a number that is never used again.

    It belongs to one event loop: write to it from that loop's thread only.
    """

    def __init__(
        self, *, clock: Callable[[], float], capacity_bytes: int = DEFAULT_CAPACITY
    ) -> None:
        self.next_number = 1
        self.cut_count = 0
        self.is_kept: Callable[[str], bool] = lambda priority: True
        """Whether entries of a priority are kept; others are dropped as they are written."""
        self._clock = clock
        self._last_time = clock()
        self._set_back = 0.0
        self._rings = {name: deque[LogLine]() for name in BUFFERS}
        self._used = dict.fromkeys(BUFFERS, 0)
        self._capacity = dict.fromkeys(BUFFERS, capacity_bytes)
        self._waiters: set[asyncio.Future[None]] = set()

    def write(
        self,
        priority: str,
        tag: str,
        message: str,
        *,
        pid: int,
        tid: int | None = None,
        buffer: str = "main",
    ) -> None:
        """Append one entry, cut as logd cuts it."""
        self._append(priority, tag, message, [message], pid=pid, tid=tid, buffer=buffer)

    def timber(
        self, priority: str, tag: str, message: str, *, pid: int, tid: int | None = None
    ) -> None:
        """Log as an app does through Timber: a long message becomes several entries."""
        pieces = timber_pieces(message)
        self._append(priority, tag, message, pieces, pid=pid, tid=tid, buffer="main")

    def _append(
        self,
        priority: str,
        tag: str,
        message: str,
        pieces: Iterable[str],
        *,
        pid: int,
        tid: int | None,
        buffer: str,
    ) -> None:
        """Append the pieces of a message as entries: of a hierarchy there are thousands."""
        if not self.is_kept(priority):
            return
        ring, time = self._rings[buffer], self.now()
        tid = pid if tid is None else tid
        is_plain, around = _is_plain(tag) and _is_plain(message), _ENTRY_OVERHEAD + len(tag)
        first = number = self.next_number
        used = 0
        for number, piece in enumerate(pieces, first):
            size = around + len(piece)
            if size > _MAX_SIZE or not (is_plain or _is_plain(tag + piece)):
                tag, piece, size = _capped(tag, piece)
            line = (number, time, pid, tid, priority, tag, piece, buffer, first, size)
            ring.append(LogLine._make(line))
            used += size
        self.next_number = number + 1
        self._used[buffer] += used
        self._prune(buffer)
        self._wake()

    def since(self, number: int, *, buffers: Collection[str] = BUFFERS) -> list[LogLine]:
        """List the entries that are still held and whose number is at least ``number``."""
        rings = (self._rings[name] for name in BUFFERS if name in buffers)
        # No ring holds more new entries than there are new numbers.
        newest = max(self.next_number - number, 0)
        found = [line for ring in rings for line in islice(reversed(ring), newest)]
        found.sort(key=_number)
        return found[bisect_left(found, number, key=_number) :]

    def last(self, count: int, *, buffers: Collection[str] = BUFFERS) -> list[LogLine]:
        """List the newest entries, at most ``count``, oldest first."""
        rings = (self._rings[name] for name in BUFFERS if name in buffers)
        found = [line for ring in rings for line in islice(reversed(ring), count)]
        found.sort(key=_number)
        return found[-count:]

    async def wait(self, number: int) -> None:
        """Return once an entry with at least this number was written, or streams were cut."""
        cuts = self.cut_count
        while self.next_number <= number and self.cut_count == cuts:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)

    def clear(self, buffers: Collection[str]) -> None:
        """Drop the entries of these buffers; numbering continues."""
        for name in buffers:
            self._rings[name].clear()
            self._used[name] = 0

    def cut_streams(self) -> None:
        """Wake every reader; they see ``cut_count`` rise and stop."""
        self.cut_count += 1
        self._wake()

    def now(self) -> float:
        """Return the device's time, in seconds since 1970; it goes back only if it is set back."""
        self._last_time = max(self._last_time, self._clock() - self._set_back)
        return self._last_time

    def set_back(self, seconds: float) -> None:
        """Set the time of what is logged from now on back."""
        self._set_back += seconds
        self._last_time -= seconds

    def set_right(self) -> None:
        """Let what is logged from now on have the right time again."""
        self._set_back = 0.0

    def used_bytes(self, buffer: str) -> int:
        """Return how many bytes a buffer holds."""
        return self._used[buffer]

    def capacity_bytes(self, buffer: str) -> int:
        """Return how many bytes a buffer can hold."""
        return self._capacity[buffer]

    def resize(self, buffer: str, capacity_bytes: int) -> None:
        """Resize a buffer; its oldest entries go if it shrank."""
        self._capacity[buffer] = capacity_bytes
        self._prune(buffer)

    def _prune(self, buffer: str) -> None:
        ring = self._rings[buffer]
        # The newest entry always stays, else a reader would wait for a number that is never shown.
        while self._used[buffer] > self._capacity[buffer] and len(ring) > 1:
            self._used[buffer] -= ring.popleft().size

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


def timber_pieces(message: str) -> list[str]:
    """Cut a message as Timber's debug tree does: by line, and lines into 4,000-unit pieces."""
    if _units(message) < TIMBER_PIECE:
        return [message]
    lines = message.split("\n")
    if not lines[-1]:
        lines.pop()
    if max(map(len, lines)) * 2 <= TIMBER_PIECE:
        return lines
    return [piece for line in lines for piece in _line_pieces(line)]


def _line_pieces(line: str) -> list[str]:
    if len(line) * 2 <= TIMBER_PIECE:
        return [line]
    wide = line.encode("utf-16-le", "surrogatepass")
    step = TIMBER_PIECE * 2
    # A cut may fall between the halves of a surrogate pair; so it does on a phone.
    return [
        wide[start : start + step].decode("utf-16-le", "surrogatepass")
        for start in range(0, len(wide), step)
    ]


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _is_plain(text: str) -> bool:
    """Whether the text has as many bytes as characters, and logd keeps them all."""
    return text.isascii() and "\0" not in text


def _capped(tag: str, message: str) -> tuple[str, str, int]:
    """Return what logd keeps of an entry, and the size of that."""
    tag_bytes = _c_string(tag)[: MAX_PAYLOAD - 3]
    text_bytes = _c_string(message)[: MAX_PAYLOAD - 3 - len(tag_bytes)]
    return (
        tag_bytes.decode("utf-8", "surrogateescape"),
        text_bytes.decode("utf-8", "surrogateescape"),
        _ENTRY_OVERHEAD + len(tag_bytes) + len(text_bytes),
    )


def _c_string(text: str) -> bytes:
    # Half a surrogate pair leaves the Java runtime as three bytes, and a NUL ends the text.
    return text.encode("utf-8", "surrogatepass").partition(b"\0")[0]
