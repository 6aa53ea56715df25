"""Log entries as liblog prints them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

from pytest_clawperator.simulator.log.buffer import LogLine

FORMATS = ("brief", "raw", "tag", "threadtime", "time")
_PREFIX_ROOM = 127  # liblog builds the prefix in 128 bytes, the last one a NUL


def micros(time: float) -> int:
    """Return a time as whole microseconds, rounding away what floats get wrong."""
    return round(time * 1_000_000)


class LogPrinter:
    """Turns entries into the bytes that logcat prints."""

    def __init__(self, form: str) -> None:
        self._form = form
        self._second: tuple[int, str] | None = None

    def render(self, lines: Sequence[LogLine]) -> bytes:
        """Print entries of one writing; a message of several lines has the prefix on each."""
        head = _encode(self._prefix(lines[0]))[:_PREFIX_ROOM]
        text = "\n".join([line.message.removesuffix("\n") for line in lines])
        # A hierarchy has thousands of lines: they are encoded as one text.
        return head + _encode(text).replace(b"\n", b"\n" + head) + b"\n"

    def _prefix(self, line: LogLine) -> str:
        # C counts the width of a tag in bytes, Python in characters.
        tag = line.tag + " " * (8 - len(_encode(line.tag)))
        if self._form == "threadtime":
            stamp = self._stamp(line.time)
            return f"{stamp} {line.pid:5d} {line.tid:5d} {line.priority} {tag}: "
        if self._form == "time":
            return f"{self._stamp(line.time)} {line.priority}/{tag}({line.pid:5d}): "
        if self._form == "tag":
            return f"{line.priority}/{tag}: "
        return "" if self._form == "raw" else f"{line.priority}/{tag}({line.pid:5d}): "

    def _stamp(self, time: float) -> str:
        second, fraction = divmod(micros(time), 1_000_000)
        if self._second is None or self._second[0] != second:
            moment = datetime.fromtimestamp(second, timezone.utc)
            self._second = (second, moment.strftime("%m-%d %H:%M:%S"))
        return f"{self._second[1]}.{fraction // 1000:03d}"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
