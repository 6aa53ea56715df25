"""A log with a logcat command on it, for the tests of what logcat prints."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

from pytest_clawperator.simulator.android.log_buffer import LogBuffer
from pytest_clawperator.simulator.android.logcat import make_logcat
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.files import FileSystem

NOON = 1774692000.123456  # 2026-03-28 10:00:00 UTC and a bit


@dataclass
class Sink:
    """Keeps every write by itself, and signals that one came."""

    writes: list[bytes] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(self, data: bytes) -> None:
        """Take what a command prints."""
        self.writes.append(data)
        self.came.set()

    @property
    def text(self) -> str:
        """Everything so far."""
        return b"".join(self.writes).decode("utf-8", "surrogateescape")

    async def wait_for(self, needle: str) -> None:
        """Return once the output holds this text."""
        while needle not in self.text:
            self.came.clear()
            await asyncio.wait_for(self.came.wait(), 10)


class Call:
    """One call of logcat, with what it needs of a shell."""

    def __init__(self, *args: str, env: dict[str, str] | None = None) -> None:
        files = FileSystem(clock=lambda: NOON)
        self.args = ["logcat", *args]
        self.stdout, self.stderr = Sink(), Sink()
        self.shell = SimpleNamespace(env=env or {}, files=files, cwd="/")

    async def out(self, text: str) -> None:
        """Print text."""
        await self.stdout.write(text.encode())

    async def err(self, text: str) -> None:
        """Complain."""
        await self.stderr.write(text.encode())


class Phone:
    """A log, its faults, and a clock that tests can set."""

    def __init__(self) -> None:
        self.time = NOON
        self.log = LogBuffer(clock=lambda: self.time)
        self.faults = Faults()
        self._command = cast("Callable[[Call], Awaitable[int]]", make_logcat(self.log, self.faults))

    def start(self, *args: str) -> tuple[Call, asyncio.Task[int]]:
        """Run logcat beside the test."""
        call = Call(*args)
        return call, asyncio.ensure_future(self._command(call))

    def run(self, *args: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Run a logcat that ends by itself: status, output, errors."""
        call = Call(*args, env=env)
        status = asyncio.run(_finish(self._command(call)))
        return status, call.stdout.text, call.stderr.text

    def lines(self, *args: str) -> list[str]:
        """Return the lines of a dump without dividers."""
        status, out, err = self.run("-d", *args)
        assert (status, err) == (0, "")
        return [line for line in out.splitlines() if not line.startswith("--------- ")]


async def _finish(work: Awaitable[int]) -> int:
    return await asyncio.wait_for(work, 10)
