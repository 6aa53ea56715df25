"""Log entries as liblog prints them: every ``-v`` format and its modifiers."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from pytest_clawperator.simulator.log.buffer import BUFFERS, PRIORITIES, LogLine

VERBS = ("brief", "process", "tag", "thread", "raw", "time", "threadtime", "long")
MODIFIERS = (
    "color",
    "descriptive",
    "epoch",
    "monotonic",
    "nsec",
    "printable",
    "uid",
    "usec",
    "year",
    "zone",
)

_PREFIX_ROOM = 127  # liblog builds prefix and suffix in 128 bytes each, the last one a NUL
_COLOURS = {"V": 39, "D": 34, "I": 32, "W": 33, "E": 31, "F": 31}
# Only names of up to five letters are printed, the others show as numbers.
_SHORT_USER_NAMES = {
    0: "root",
    1001: "radio",
    1007: "log",
    1010: "wifi",
    1013: "media",
    1019: "drm",
    1021: "gps",
    1027: "nfc",
    1036: "logd",
    2000: "shell",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_ENTRY_HEADER = struct.Struct("<HHiIIIII")
_C_ESCAPES = {7: "\\a", 8: "\\b", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}
_UNPRINTABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f\\\\\udc80-\udcff]")


@dataclass(frozen=True)
class LogFormat:
    """What ``-v`` asks for."""

    verb: str = "threadtime"
    modifiers: frozenset[str] = frozenset()
    timezone: tzinfo = timezone.utc

    def with_word(self, word: str) -> LogFormat | None:
        """Apply one word of ``-v``; None if it is neither format, modifier nor time zone."""
        if word in VERBS:
            return replace(self, verb=word)
        word = "color" if word == "colour" else word
        if word in MODIFIERS and word != "zone":
            return replace(self, modifiers=self.modifiers | {word})
        zone = self.timezone if word == "zone" else find_timezone(word)
        if zone is None:
            return None
        # To name a zone shows it; to ask for it twice hides it again.
        return replace(self, timezone=zone, modifiers=self.modifiers ^ {"zone"})


def find_timezone(name: str) -> tzinfo | None:
    """Look a time zone up by its name in the Olson database."""
    if name in {"UTC", "GMT"}:
        return timezone.utc
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return None


def micros(time: float) -> int:
    """Return a time as whole microseconds, rounding away what floats get wrong."""
    return round(time * 1_000_000)


class LogPrinter:
    """Turns entries into the bytes that logcat prints."""

    def __init__(self, format: LogFormat, *, boot_time: float = 0.0) -> None:
        self._verb = format.verb
        self._modifiers = format.modifiers
        self._timezone = format.timezone
        self._boot_micros = micros(boot_time)
        self._second: tuple[int, str, str] | None = None

    def render(self, lines: Sequence[LogLine]) -> bytes:
        """Print entries of one writing; a message of several lines has the prefix on each."""
        head, tail = self._head_and_tail(lines[0])
        if self._verb == "long":
            return b"".join(head + self._text(line.message) + tail for line in lines)
        text = "\n".join([line.message.removesuffix("\n") for line in lines])
        if "printable" in self._modifiers:
            return head + (tail + head).join(map(self._text, text.split("\n"))) + tail
        # A hierarchy has thousands of lines: they are encoded as one text.
        return head + _encode(text).replace(b"\n", tail + head) + tail

    def _head_and_tail(self, line: LogLine) -> tuple[bytes, bytes]:
        prefix, suffix = self._around(line)
        if "color" in self._modifiers:
            prefix = f"\x1b[{_COLOURS[line.priority]}m{prefix}"
            suffix = f"\x1b[0m{suffix}"
        head = _encode(prefix)[:_PREFIX_ROOM]
        tail = _encode(suffix)
        if len(tail) > _PREFIX_ROOM:
            tail = tail[: _PREFIX_ROOM - 1] + b"\n"
        return head, tail

    def _around(self, line: LogLine) -> tuple[str, str]:
        p, tag, pid, tid = line.priority, line.tag, line.pid, line.tid
        uid = self._uid(line)
        verb = self._verb
        if verb == "threadtime":
            stamp, uid = self._stamp(line.time), uid.replace(":", " ")
            return f"{stamp} {uid}{pid:5d} {tid:5d} {p} {_padded(tag)}: ", "\n"
        if verb == "time":
            return f"{self._stamp(line.time)} {p}/{_padded(tag)}({uid}{pid:5d}): ", "\n"
        if verb == "tag":
            return f"{p}/{_padded(tag)}: ", "\n"
        if verb == "process":
            return f"{p}({uid}{pid:5d}) ", f"  ({tag})\n"
        if verb == "thread":
            return f"{p}({uid}{pid:5d}:{tid:5d}) ", "\n"
        if verb == "raw":
            return "", "\n"
        if verb == "long":
            stamp = self._stamp(line.time)
            return f"[ {stamp} {uid}{pid:5d}:{tid:5d} {p}/{_padded(tag)} ]\n", "\n\n"
        return f"{p}/{_padded(tag)}({uid}{pid:5d}): ", "\n"

    def _uid(self, line: LogLine) -> str:
        if "uid" not in self._modifiers:
            return ""
        return f"{_SHORT_USER_NAMES.get(line.uid, line.uid):>5}:"

    def _text(self, text: str) -> bytes:
        return _encode(_UNPRINTABLE.sub(_escape, text) if "printable" in self._modifiers else text)

    def _stamp(self, time: float) -> str:
        wanted = self._modifiers
        since = micros(time) - (self._boot_micros if "monotonic" in wanted else 0)
        second, fraction = divmod(since, 1_000_000)
        if self._second is None or self._second[0] != second:
            self._second = (second, *self._whole_seconds(second))
        _, start, end = self._second
        if "nsec" in wanted:
            return f"{start}.{fraction * 1000:09d}{end}"
        if "usec" in wanted:
            return f"{start}.{fraction:06d}{end}"
        return f"{start}.{fraction // 1000:03d}{end}"

    def _whole_seconds(self, second: int) -> tuple[str, str]:
        wanted = self._modifiers
        if "monotonic" in wanted:
            return f"{second:6d}", ""
        if "epoch" in wanted:
            return f"{second:19d}", ""
        moment = (_EPOCH + timedelta(seconds=second)).astimezone(self._timezone)
        start = moment.strftime("%Y-%m-%d %H:%M:%S" if "year" in wanted else "%m-%d %H:%M:%S")
        return start, moment.strftime(" %z") if "zone" in wanted else ""


def binary_entry(line: LogLine) -> bytes:
    """Return an entry in logd's binary form, for ``-B``."""
    priority = bytes([PRIORITIES.index(line.priority) + 2])
    payload = priority + _encode(line.tag) + b"\0" + _encode(line.message) + b"\0"
    second, fraction = divmod(micros(line.time), 1_000_000)
    return payload_header(line, len(payload), second, fraction * 1000) + payload


def payload_header(line: LogLine, length: int, second: int, nanos: int) -> bytes:
    """Pack the ``logger_entry`` that comes before a payload."""
    return _ENTRY_HEADER.pack(
        length,
        _ENTRY_HEADER.size,
        line.pid,
        line.tid,
        second,
        nanos,
        BUFFERS.index(line.buffer),
        line.uid,
    )


def _padded(tag: str) -> str:
    # C counts the width in bytes, Python in characters.
    return f"{tag:<8}" if tag.isascii() else tag + " " * (8 - len(_encode(tag)))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return _C_ESCAPES.get(code) or f"\\x{code & 0xFF:02X}"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
