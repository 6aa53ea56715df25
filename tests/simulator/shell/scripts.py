"""Running scripts in the device's shell, for tests."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from pytest_clawperator.simulator.shell.runner import run_script
from pytest_clawperator.simulator.shell.shell import Command, Invocation, Shell
from pytest_clawperator.simulator.shell.streams import Bytes, Collected

NOON = 1774692000.5  # 2026-03-28 10:00:00.5 UTC
DEADLINE = 20.0
FOLDER = "/data/local/tmp"


class Ended(NamedTuple):
    """How a script ended."""

    status: int
    out: str
    err: str = ""


def new_shell(**commands: Command) -> Shell:
    """Return a shell with its own commands and those of a test, in an empty folder."""
    shell = Shell(
        {**SHELL_COMMANDS, **commands}, FileSystem(clock=lambda: NOON), clock=lambda: NOON
    )
    shell.cwd = FOLDER
    return shell


async def run_in(shell: Shell, script: str, stdin: bytes = b"") -> Ended:
    """Run a script in a shell."""
    out, err = Collected(), Collected()
    status = await asyncio.wait_for(run_script(shell, script, Bytes(stdin), out, err), DEADLINE)
    texts = (sink.data.decode("utf-8", "surrogateescape") for sink in (out, err))
    return Ended(status, *texts)


def run(script: str, stdin: bytes = b"", **commands: Command) -> Ended:
    """Run a script in a new shell."""

    async def scenario() -> Ended:
        return await run_in(new_shell(**commands), script, stdin)

    return asyncio.run(scenario())


def real_sh(script: str, folder: Path, stdin: bytes = b"") -> Ended:
    """Run a script in this machine's own shell."""
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        input=stdin,
        capture_output=True,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        timeout=DEADLINE,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode("utf-8", "surrogateescape"))


class Gate:
    """A command that waits, and lets a test know where it is."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.cancelled = False

    async def __call__(self, invocation: Invocation) -> int:
        """Wait until the test opens the gate."""
        self.reached.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        await invocation.out("passed\n")
        return 0


async def soon(work: Awaitable[object]) -> None:
    """Wait for something that must come."""
    await asyncio.wait_for(work, DEADLINE)


def with_gate(scenario: Callable[[Gate], Awaitable[None]]) -> None:
    """Run a scenario with a gate made inside its loop; nothing may be left running."""

    async def play() -> None:
        await scenario(Gate())
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(play())


class Flow:
    """An output that lets a test wait for what it holds."""

    def __init__(self) -> None:
        self.data = b""
        self._changed = asyncio.Event()

    async def write(self, data: bytes) -> None:
        """Take bytes."""
        self.data += data
        self._changed.set()

    async def until(self, data: bytes) -> None:
        """Wait for some output."""
        while data not in self.data:
            self._changed.clear()
            await soon(self._changed.wait())


class Never:
    """An input that never comes."""

    async def read(self) -> bytes:
        """Wait for ever."""
        await asyncio.Event().wait()
        return b""
