"""The state of one shell, the call of a command in it, and the programs that signals reach."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass

from pytest_clawperator.simulator.files import MISSING, FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.streams import (
    BrokenPipe,
    Bytes,
    ClosedOutput,
    Input,
    Output,
    Source,
    TextTooLong,
    encode,
)

# Each level costs about nine Python frames to parse and to run; this keeps clear of their limit.
MAX_NESTING = 40
# How many commands run before other tasks on the same loop get their turn.
_COMMANDS_PER_TURN = 32
_ENVIRONMENT = {
    "EXTERNAL_STORAGE": "/sdcard",
    "HOME": "/",
    "HOSTNAME": "localhost",
    "PATH": "/product/bin:/system/bin:/system/xbin:/vendor/bin",
    "TMPDIR": "/data/local/tmp",
    "USER": "shell",
}
_PROGRAM_FOLDERS = ("/bin", "/product/bin", "/system/bin", "/system/xbin", "/vendor/bin")
_NOT_FOUND = 127

_log = logging.getLogger(__name__)


@dataclass
class Invocation:
    """One call of a command; ``args[0]`` is the name it was called by."""

    args: list[str]
    stdin: Input
    stdout: Output
    stderr: Output
    shell: Shell

    async def out(self, text: str) -> None:
        """Write text to standard output."""
        await self.stdout.write(encode(text))

    async def err(self, text: str) -> None:
        """Write text to standard error."""
        await self.stderr.write(encode(text))


Command = Callable[[Invocation], Awaitable[int]]


class Shell:
    """The variables, working directory and descriptors of one shell."""

    def __init__(
        self,
        commands: Mapping[str, Command],
        files: FileSystem,
        *,
        clock: Callable[[], float] = time.time,
        jobs: Jobs | None = None,
    ) -> None:
        self.commands = commands
        self.files = files
        self.env = dict(_ENVIRONMENT)
        self.clock = clock
        self.jobs = Jobs() if jobs is None else jobs
        self.name = "/system/bin/sh"
        self.cwd = "/"
        self.pid = self.jobs.new_pid()
        self.is_interactive = False
        self.status = 0
        self.substitution_status = 0
        self.fds: dict[int, Source | Output] = {}
        self.depth = 0
        self._commands_run = 0

    def subshell(self) -> Shell:
        """Return a copy that can change nothing in this shell."""
        inner = copy(self)
        inner.env = dict(self.env)
        inner.fds = dict(self.fds)
        return inner

    def child(self, *, name: str) -> Shell:
        """Return a shell with a process id of its own, as ``sh`` starts one."""
        inner = self.subshell()
        inner.name, inner.pid = name, self.jobs.new_pid()
        inner.is_interactive, inner.status = False, 0
        return inner

    async def complain(self, message: str) -> None:
        """Write a message of the shell itself to standard error."""
        await self.output(2).write(encode(f"{self.name}: {message}\n"))

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count a level of calls, so that endless recursion ends in a message."""
        if self.depth > MAX_NESTING:
            raise ShellFailure(f"nested deeper than {MAX_NESTING} levels")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    async def give_turn(self) -> None:
        """Let other tasks on the loop run now and then."""
        self._commands_run += 1
        if self._commands_run % _COMMANDS_PER_TURN == 0:
            await asyncio.sleep(0)

    def parameter(self, name: str) -> str:
        """Return the value of ``$name``, ``$?`` and ``$$`` included."""
        special = {"?": str(self.status), "$": str(self.pid), "PWD": self.cwd}
        return special.get(name) or self.env.get(name, "")

    def path(self, text: str) -> str:
        """Return the absolute path of a file; raise FileSystemError for an empty one."""
        if not text:
            raise FileSystemError(text, reason=MISSING)
        return self.files.resolve(text, self.cwd)

    def input(self, fd: int) -> Source:
        """Return what a descriptor reads from."""
        source = self.fds.get(fd)
        return source if isinstance(source, Source) else Source(Bytes())

    def output(self, fd: int) -> Output:
        """Return what a descriptor writes to."""
        output = self.fds.get(fd)
        return ClosedOutput() if output is None or isinstance(output, Source) else output


async def execute(shell: Shell, args: list[str]) -> int:
    """Find a command and call it with a shell's descriptors; report its failure."""
    invocation = Invocation(args, shell.input(0), shell.output(1), shell.output(2), shell)
    try:
        command = _found(shell, args[0])
    except CommandFailure as failure:
        await shell.complain(str(failure))
        return failure.status
    try:
        return await command(invocation) & 0xFF
    except (ShellExit, ShellFailure, BrokenPipe):
        raise
    except CommandFailure as failure:
        await invocation.err(f"{args[0]}: {failure}\n")
        return failure.status
    except FileSystemError as error:
        await invocation.err(f"{args[0]}: {error}\n")
    except (TextTooLong, MemoryError):
        await invocation.err(f"{args[0]}: Out of memory\n")
    except Exception:  # a bug in one command must not take the phone down
        _log.exception("the command %.1000r failed", args)
        await invocation.err(f"{args[0]}: internal error of the simulated command\n")
    return 1


def _found(shell: Shell, name: str) -> Command:
    """Return a command by its name or path; raise CommandFailure if there is none."""
    folder, slash, base = name.rpartition("/")
    command = shell.commands.get(base)
    if command is not None and (not slash or folder in _PROGRAM_FOLDERS):
        return command
    raise CommandFailure(f"{name}: inaccessible or not found", status=_NOT_FOUND)


# Programs and signals

_FIRST_PID, _LAST_PID = 20000, 32767


@dataclass(frozen=True)
class Program:
    """A program that runs until a signal comes; ``signal`` takes its number."""

    pid: int
    name: str
    signal: Callable[[int], None]


class Jobs:
    """The programs of one device that others can see and signal."""

    def __init__(self) -> None:
        self._programs: dict[int, Program] = {}
        self._next_pid = _FIRST_PID

    def new_pid(self) -> int:
        """Return a process id that is not in use."""
        while True:
            pid = self._next_pid
            self._next_pid = _FIRST_PID if pid == _LAST_PID else pid + 1
            if pid not in self._programs:
                return pid

    @contextmanager
    def program(self, name: str, *, pid: int, signal: Callable[[int], None]) -> Iterator[None]:
        """List a program while it runs, under the ``pid`` of its shell if that is free."""
        own = self.new_pid() if pid in self._programs else pid
        self._programs[own] = Program(own, name, signal)
        try:
            yield
        finally:
            del self._programs[own]

    def programs(self) -> list[Program]:
        """List the programs that run, by process id."""
        return sorted(self._programs.values(), key=lambda program: program.pid)

    def send(self, pid: int, number: int) -> bool:
        """Send a signal (0 only asks); return whether there is such a program."""
        program = self._programs.get(pid)
        if program is not None and number:
            program.signal(number)
        return program is not None


# Early ends


class CommandFailure(Exception):
    """A command fails; the shell prints its name and the message and takes the status."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class ShellFailure(Exception):
    """The script cannot continue; the shell prints its own name and the message."""


class ShellExit(Exception):
    """The shell or subshell ends with this status; not an error."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
