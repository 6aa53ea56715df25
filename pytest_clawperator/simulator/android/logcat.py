"""The commands ``logcat`` and ``log`` of a simulated phone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from itertools import groupby
from operator import attrgetter

from pytest_clawperator.simulator.android.log_buffer import (
    BUFFERS,
    MAX_PAYLOAD,
    PRIORITIES,
    SMALLEST_BUFFER,
    LogBuffer,
    LogLine,
)
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.shell.shell import Command, Invocation

_MOST_PER_WRITE = 1024 * 1024  # as much as one adb message holds

_LINES_PER_TURN = 200  # then others get their turn; more at once need memory that is slow to get

_TURNS = 3  # of the loop, before a reader that was woken reads: what belongs together comes at once

_SIZES = (SMALLEST_BUFFER, 256 * 1024 * 1024)  # what logd accepts for a buffer

_DEFAULT_BUFFERS = ("main", "system", "crash")

_WITH_VALUE = frozenset(("G", "T", "b", "pid", "t", "v"))

_PLAIN = frozenset(("c", "d", "g", "s"))

_LONG = {
    "buffer": "b",
    "buffer-size": "G",
    "clear": "c",
    "format": "v",
    "pid": "pid",
    "tail": "t",
}

_LEVELS = f"{PRIORITIES}S"

_DATE = re.compile(
    r"\s*(?:(\d{4})-)?(1[0-2]|0?[1-9])-(3[01]|[12]\d|0?[1-9])"
    r"\s+(\d{1,2}):(\d{1,2}):(\d{1,2})\.(\d*)"
)

_SECONDS = re.compile(r"\s*(\d{1,12})\.(\d*)")

_FORMATS = ("brief", "raw", "tag", "threadtime", "time")

_PREFIX_ROOM = 127  # liblog builds the prefix in 128 bytes, the last one a NUL

_USAGE = "usage: log [-p PRI] [-t TAG] MESSAGE...\n"


def make_logcat(log: LogBuffer, faults: Faults) -> Command:
    """Make the command that reads this log."""

    async def logcat(invocation: Invocation) -> int:
        try:
            return await _logcat(invocation, log=log, faults=faults)
        except _LogcatProblem as problem:
            await invocation.err(f"logcat: {problem}\n")
            return 1

    return logcat


async def _logcat(invocation: Invocation, *, log: LogBuffer, faults: Faults) -> int:
    options = _parse_options(invocation.args[1:], env=invocation.shell.env, now=log.now())
    if options.clear or options.show_size or options.new_size is not None:
        answer = _control(log, options)
        if answer:
            await invocation.out(answer)
        return 0
    await _Reader(log, faults, options, invocation).run()
    return 0


def _control(log: LogBuffer, options: _LogcatOptions) -> str:
    """Clear and resize the buffers, and return their sizes, as the options ask."""
    chosen = [name for name in BUFFERS if name in options.buffers]
    if options.clear:
        log.clear(chosen)
    if options.new_size is not None:
        if not _SIZES[0] <= options.new_size <= _SIZES[1]:
            plural = "s" if len(chosen) > 1 else ""
            raise _LogcatProblem(f"failed to set the '{','.join(chosen)}' log size{plural}.")
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
            lines = self._wanted(position)
            position = until
            await self._print([line for line in lines if line.number < until])
        if self._options.follow:
            # Cut off; that uses the fault up if it was set for a number of occasions.
            self._faults.take("log_cut")

    def _tail(self) -> list[LogLine]:
        since, count = self._options.tail_micros, self._options.tail_lines
        if count is not None and since is None and self._options.pid is None:
            return self._log.last(count, buffers=self._options.buffers)
        lines = self._wanted(0)
        if since is not None:
            return [line for line in lines if _micros(line.time) >= since]
        return lines if count is None else lines[-count:]

    def _wanted(self, number: int) -> list[LogLine]:
        """Return what logd would send: it knows buffers and processes, but no filters."""
        lines = self._log.since(number, buffers=self._options.buffers)
        pid = self._options.pid
        return lines if pid is None else [line for line in lines if line.pid == pid]

    async def _slow_down(self) -> None:
        fault = self._faults.take("slow_log")
        if fault is not None:
            await asyncio.sleep(_milliseconds(fault.options["ms"]) / 1000)

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


def _milliseconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0


# The command line


class _LogcatProblem(Exception):
    """Logcat ends with this message on stderr, and fails."""


@dataclass
class _LogcatOptions:
    """What one call of logcat is to do."""

    follow: bool = True
    clear: bool = False
    show_size: bool = False
    new_size: int | None = None
    buffers: set[str] = field(default_factory=set)
    format: str = "threadtime"
    filters: _Filters = field(default_factory=lambda: _Filters())
    tail_lines: int | None = None
    tail_micros: int | None = None
    pid: int | None = None


def _parse_options(args: Sequence[str], *, env: Mapping[str, str], now: float) -> _LogcatOptions:
    """Parse the arguments after the command's name; _LogcatProblem for a mistake."""
    options = _LogcatOptions()
    specifications = []
    for name, value in _split(args):
        if name == "":
            specifications.append(value)
        elif name in ("t", "T"):
            _set_tail(options, name, value, now=now)
        elif name == "v":
            if value not in _FORMATS:
                raise _LogcatProblem(f"Invalid -v '{value}'.")
            options.format = value
        elif name == "b":
            _set_buffers(options, value)
        elif name == "G":
            options.new_size = _size(value)
        elif name == "pid":
            options.pid = _number(value)
            if not options.pid:
                raise _LogcatProblem(f"pid '{value}' out of range.")
        elif name == "s":
            options.filters.add("*:S")
        else:
            options.follow &= name != "d"
            options.clear |= name == "c"
            options.show_size |= name == "g"
    options.buffers = options.buffers or {*_DEFAULT_BUFFERS, "kernel"}
    for specification in specifications or [env.get("ANDROID_LOG_TAGS", "")]:
        if not options.filters.add(specification):
            raise _LogcatProblem(f"Invalid filter expression '{specification}'.")
    return options


def _split(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield options with their values, and with an empty name what is not an option."""
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            yield "", word
            continue
        long, equals, value = word[2:].partition("=")
        if word.startswith("--"):
            letters, value = [_LONG.get(long, word)], value if equals else ""
        else:
            letters = list(word[1:])
        while letters:
            letter = letters.pop(0)
            if letter in _PLAIN and not equals:
                yield letter, ""
            elif letter not in _WITH_VALUE:
                raise _LogcatProblem(f"Unknown option '{word}'.")
            elif attached := value or "".join(letters):
                yield letter, attached
                break
            elif rest:
                yield letter, rest.pop(0)
            else:
                raise _LogcatProblem(f"Option '{word}' needs an argument.")


def _set_tail(options: _LogcatOptions, letter: str, value: str, *, now: float) -> None:
    options.follow &= letter == "T"
    if value.strip("0123456789"):
        options.tail_micros = _parse_time(value, now=now)
        if options.tail_micros is None:
            raise _LogcatProblem(f"-{letter} '{value}' not in time format.")
    else:
        options.tail_lines = max(1, _number(value) or 0)


def _set_buffers(options: _LogcatOptions, value: str) -> None:
    for word in value.split(","):
        named = {"default": _DEFAULT_BUFFERS, "all": BUFFERS}.get(word, (word,))
        if not set(named) <= set(BUFFERS):
            raise _LogcatProblem(f"Unknown -b buffer '{word}'.")
        options.buffers.update(named)


def _size(value: str) -> int:
    match = re.fullmatch(r"([0-9]{1,12})([bkmg]?)", value.lower())
    size = int(match[1]) * 1024 ** "bkmg".index(match[2] or "b") if match else 0
    if size < 1:
        raise _LogcatProblem("-G must be specified as <num><multiplier>.")
    return size


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


# _Filters and times


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


def _parse_time(text: str, *, now: float) -> int | None:
    """Parse what ``-T`` takes into microseconds since 1970; None if it is not a time."""
    match = _DATE.match(text)
    if match is None:
        seconds = _SECONDS.match(text)
        return int(seconds[1]) * 1_000_000 + _fraction(seconds[2]) if seconds else None
    year = int(match[1]) if match[1] else datetime.fromtimestamp(now, tz=timezone.utc).year
    month, day, hour, minute, second = (int(match[group]) for group in range(2, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return None
    since_epoch = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return since_epoch // timedelta(microseconds=1) + _fraction(match[7])


def _fraction(digits: str) -> int:
    return int(digits[:6].ljust(6, "0")) if digits else 0


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
        while words and words[0] in ("-p", "-t"):
            option, *words = words
            if not words:
                await invocation.err(f"log: Missing argument to {option}\n")
                return 1
            if option == "-p":
                priority = words.pop(0)[:1].upper()
            else:
                tag = words.pop(0)
        if words[:1] == ["--"]:
            words = words[1:]
        if not words:
            await invocation.err(f"log: Needs 1 argument\n{_USAGE}")
            return 1
        if priority not in PRIORITIES:
            await invocation.err(f"log: bad -p '{priority}'\n")
            return 1
        log.write(priority, tag, " ".join(words), pid=invocation.shell.pid)
        return 0

    return command
