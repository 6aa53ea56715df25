"""The commands ``logcat`` and ``log`` of a simulated phone."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import groupby
from operator import attrgetter
from typing import NoReturn

from pytest_clawperator.simulator.android.log_buffer import (
    BUFFERS,
    MAX_PAYLOAD,
    PRIORITIES,
    SMALLEST_BUFFER,
    LogBuffer,
    LogLine,
)
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.shell.shell import Command, CommandFailure, Invocation

_MOST_PER_WRITE = 1024 * 1024  # as much as one adb message holds
_LINES_PER_TURN = 200  # then others get their turn; larger batches need memory that is slow to get
_TURNS = 3  # of the loop before a woken reader reads, so that what belongs together comes together
_SIZES = (SMALLEST_BUFFER, 256 * 1024 * 1024)  # what logd accepts for a buffer
_DEFAULT_BUFFERS = ("main", "system", "crash")
_LEVELS = f"{PRIORITIES}S"
_FORMATS = ("brief", "raw", "tag", "threadtime", "time")
_PREFIX_ROOM = 127  # liblog builds the prefix in 128 bytes, the last one a NUL


def make_logcat(log: LogBuffer, faults: Faults) -> Command:
    """Make the command that reads this log."""

    async def logcat(invocation: Invocation) -> int:
        env = invocation.shell.env
        options = _parse_options(invocation.args[1:], env=env, now=log.now())
        if options.clear or options.show_size or options.new_size is not None:
            await invocation.out(_control(log, options))
        else:
            await _Reader(log, faults, options, invocation).run()
        return 0

    return logcat


def _control(log: LogBuffer, options: _LogcatOptions) -> str:
    """Clear and resize the buffers, and return their sizes, as the options ask."""
    chosen = [name for name in BUFFERS if name in options.buffers]
    if options.clear:
        log.clear(chosen)
    if options.new_size is not None:
        if not _SIZES[0] <= options.new_size <= _SIZES[1]:
            plural = "s" if len(chosen) > 1 else ""
            raise CommandFailure(f"failed to set the '{','.join(chosen)}' log size{plural}.")
        for name in chosen:
            log.resize(name, options.new_size)
    if not options.show_size:
        return ""
    return "".join(_size_line(log, name) for name in chosen)


def _size_line(log: LogBuffer, name: str) -> str:
    used = _readable_size(log.used_bytes(name))
    return (
        f"{name}: ring buffer is {_readable_size(log.capacity_bytes(name))}"
        f" ({used} consumed, {used} readable),"
        f" max entry is 5120 B, max payload is {MAX_PAYLOAD} B\n"
    )


def _readable_size(size: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size} {unit}"
        size //= 1024
    return f"{size} GiB"


class _Reader:
    """One running logcat."""

    def __init__(
        self, log: LogBuffer, faults: Faults, options: _LogcatOptions, invocation: Invocation
    ) -> None:
        self._log = log
        self._faults = faults
        self._options = options
        self._invocation = invocation
        self._printer = LogPrinter(options.format)
        self._begun: set[str] = set()

    async def run(self) -> None:
        cuts = self._log.cut_count
        position = self._log.next_number
        tail = self._tail()
        await self._slow_down()
        await self._print(tail)
        while self._options.follow and self._log.cut_count == cuts:
            await self._log.wait(position)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if self._log.cut_count != cuts or self._faults.active("log_cut"):
                break
            until = self._log.next_number
            await self._slow_down()
            lines = self._log.since(position, buffers=self._options.buffers)
            position = until
            await self._print([line for line in lines if line.number < until])
        if self._options.follow:
            # Cut off; that uses the fault up if it was set for a number of occasions.
            self._faults.take("log_cut")

    def _tail(self) -> list[LogLine]:
        since, count = self._options.tail_micros, self._options.tail_lines
        if count is not None:
            return self._log.last(count, buffers=self._options.buffers)
        lines = self._log.since(0, buffers=self._options.buffers)
        return [line for line in lines if _micros(line.time) >= since]

    async def _slow_down(self) -> None:
        fault = self._faults.take("slow_log")
        if fault is not None:
            await asyncio.sleep(int(fault.options["ms"]) / 1000)

    async def _print(self, lines: Sequence[LogLine]) -> None:
        """Write lines together: one adb message per line would be ten times slower to read."""
        pending: list[bytes] = []
        size = 0
        for start in range(0, len(lines), _LINES_PER_TURN):
            if start:
                await asyncio.sleep(0)
            data = self._render(lines[start : start + _LINES_PER_TURN])
            if size + len(data) > _MOST_PER_WRITE:
                await self._invocation.stdout.write(b"".join(pending))
                pending, size = [], 0
            pending.append(data)
            size += len(data)
        if size:
            await self._invocation.stdout.write(b"".join(pending))

    def _render(self, lines: Sequence[LogLine]) -> bytes:
        filters = self._options.filters
        if not filters.pass_all:
            lines = [line for line in lines if filters.passes(line.tag, line.priority)]
        writings = (list(entries) for _, entries in groupby(lines, key=attrgetter("first")))
        return b"".join(
            self._divider(entries[0].buffer) + self._printer.render(entries) for entries in writings
        )

    def _divider(self, buffer: str) -> bytes:
        if buffer in self._begun:
            return b""
        self._begun.add(buffer)
        return f"--------- beginning of {buffer}\n".encode()


# The command line


@dataclass
class _LogcatOptions:
    """What one call of logcat is to do."""

    follow: bool
    clear: bool
    show_size: bool
    new_size: int | None
    buffers: set[str]
    format: str
    filters: _Filters
    tail_lines: int | None
    tail_micros: int


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CommandFailure(message)


def _parser() -> _Parser:
    parser = _Parser(prog="logcat", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    for letter in "dgs":
        add(f"-{letter}", action="store_true")
    add("-c", "--clear", action="store_true")
    add("-v", "--format", choices=_FORMATS, default="threadtime")
    add("-b", "--buffer", action="append", default=[])
    add("-G", "--buffer-size", type=_size)
    add("-T")
    add("-t", "--tail")
    add("filters", nargs="*")
    return parser


def _parse_options(args: Sequence[str], *, env: Mapping[str, str], now: float) -> _LogcatOptions:
    """Parse the arguments after the command's name; CommandFailure for a mistake."""
    given = _parser().parse_intermixed_args(args)
    filters = _Filters()
    rules = given.filters or [env.get("ANDROID_LOG_TAGS", "")]
    for rule in ["*:S", *rules] if given.s else rules:
        if not filters.add(rule):
            raise CommandFailure(f"Invalid filter expression '{rule}'.")
    tail = given.T or given.tail or ""
    return _LogcatOptions(
        follow=not given.d and given.tail is None,
        clear=given.clear,
        show_size=given.g,
        new_size=given.buffer_size,
        buffers=_buffers(",".join(given.buffer) or "default,kernel"),
        format=given.format,
        filters=filters,
        tail_lines=max(1, int(tail)) if re.fullmatch("[0-9]{1,18}", tail) else None,
        tail_micros=_parse_time(tail, now=now),
    )


def _buffers(text: str) -> set[str]:
    buffers: set[str] = set()
    for word in text.split(","):
        buffers.update({"default": _DEFAULT_BUFFERS, "all": BUFFERS}.get(word, (word,)))
        if not buffers <= set(BUFFERS):
            raise CommandFailure(f"Unknown -b buffer '{word}'.")
    return buffers


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,12})([bkmg]?)", text.lower())
    if match is None:
        raise ValueError(text)
    return int(match[1]) << 10 * "bkmg".index(match[2] or "b")


def _parse_time(text: str, *, now: float) -> int:
    """Parse what ``-T`` takes, a date or seconds, into microseconds since 1970."""
    if text.replace(".", "").isdigit() or not text:
        return round(float(text or 0) * 1_000_000)
    has_year = re.match("[0-9]{4}-", text)
    year = datetime.fromtimestamp(now, tz=timezone.utc).year
    try:
        moment = datetime.strptime(text if has_year else f"{year}-{text}", "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        raise CommandFailure(f"-T '{text}' not in time format.") from None
    return _micros(moment.replace(tzinfo=timezone.utc).timestamp())


@dataclass
class _Filters:
    """Which priorities of which tags are printed."""

    default: int = 0
    tags: dict[str, int] = field(default_factory=dict)

    def add(self, specification: str) -> bool:
        """Add rules such as ``Tag:W *:S``; False if one of them is invalid."""
        return all(self._add_rule(rule) for rule in re.split("[ \t,]", specification) if rule)

    @property
    def pass_all(self) -> bool:
        """Whether there is no rule that keeps anything back."""
        return self.default == 0 and not self.tags

    def passes(self, tag: str, priority: str) -> bool:
        """Whether an entry is to be printed."""
        return _LEVELS.index(priority) >= self.tags.get(tag, self.default)

    def _add_rule(self, rule: str) -> bool:
        tag, colon, letter = rule.partition(":")
        # A tag alone is printed whole, and '*' alone from D on.
        level = _LEVELS.find(letter.upper()[:1] or "?") if colon else int(tag == "*")
        if not tag or level < 0:
            return False
        if tag == "*":
            self.default = level
        else:
            self.tags[tag] = level
        return True


# Formats


def _micros(time: float) -> int:
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
        second, fraction = divmod(_micros(time), 1_000_000)
        if self._second is None or self._second[0] != second:
            moment = datetime.fromtimestamp(second, timezone.utc)
            self._second = (second, moment.strftime("%m-%d %H:%M:%S"))
        return f"{self._second[1]}.{fraction // 1000:03d}"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# log


def make_log(log: LogBuffer) -> Command:
    """Make the command that writes to this log."""

    async def command(invocation: Invocation) -> int:
        priority, tag = "I", "log"
        words = invocation.args[1:]
        while len(words) > 1 and words[0] in ("-p", "-t"):
            option, value, *words = words
            if option == "-p":
                priority = value[:1].upper()
            else:
                tag = value
        if not words or priority not in PRIORITIES:
            raise CommandFailure("usage: log [-p PRI] [-t TAG] MESSAGE...")
        log.write(priority, tag, " ".join(words), pid=invocation.shell.pid)
        return 0

    return command
