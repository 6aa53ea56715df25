"""The ``logcat`` command of a simulated phone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.log.buffer import (
    BUFFERS,
    MAX_PAYLOAD,
    SMALLEST_BUFFER,
    LogBuffer,
    LogLine,
)
from pytest_clawperator.simulator.log.logcat_format import LogPrinter, micros
from pytest_clawperator.simulator.log.logcat_options import (
    LogcatOptions,
    LogcatProblem,
    parse_options,
)
from pytest_clawperator.simulator.shell.shell import Command, Invocation

_MOST_PER_WRITE = 1024 * 1024  # as much as one adb message holds
_LINES_PER_TURN = 200  # then others get their turn; more at once need memory that is slow to get
_TURNS = 3  # of the loop, before a reader that was woken reads: what belongs together comes at once
_SIZES = (SMALLEST_BUFFER, 256 * 1024 * 1024)  # what logd accepts for a buffer


def make_logcat(log: LogBuffer, faults: Faults) -> Command:
    """Make the command that reads this log."""

    async def logcat(invocation: Invocation) -> int:
        try:
            return await _logcat(invocation, log=log, faults=faults)
        except LogcatProblem as problem:
            await invocation.err(f"logcat: {problem}\n")
            return 1

    return logcat


async def _logcat(invocation: Invocation, *, log: LogBuffer, faults: Faults) -> int:
    options = parse_options(invocation.args[1:], env=invocation.shell.env, now=log.now())
    if options.clear or options.show_size or options.new_size is not None:
        answer = _control(log, options)
        if answer:
            await invocation.out(answer)
        return 0
    await _Reader(log, faults, options, invocation).run()
    return 0


def _control(log: LogBuffer, options: LogcatOptions) -> str:
    """Clear and resize the buffers, and return their sizes, as the options ask."""
    chosen = [name for name in BUFFERS if name in options.buffers]
    if options.clear:
        log.clear(chosen)
    if options.new_size is not None:
        if not _SIZES[0] <= options.new_size <= _SIZES[1]:
            plural = "s" if len(chosen) > 1 else ""
            raise LogcatProblem(f"failed to set the '{','.join(chosen)}' log size{plural}.")
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
        self, log: LogBuffer, faults: Faults, options: LogcatOptions, invocation: Invocation
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
            return [line for line in lines if micros(line.time) >= since]
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
