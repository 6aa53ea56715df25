"""The state of one shell, and the call of a command in it."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

from pytest_clawperator.simulator.filesystem import FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.encoding import encode
from pytest_clawperator.simulator.shell.exits import (
    BrokenPipe,
    CommandFailure,
    ControlFlow,
    ShellFailure,
    TextTooLong,
)
from pytest_clawperator.simulator.shell.jobs import Job, Jobs
from pytest_clawperator.simulator.shell.streams import (
    MAX_TEXT,
    Bytes,
    ClosedOutput,
    Input,
    Output,
    Source,
)

# Each level costs about nine Python frames to parse and to run; this keeps clear of their limit.
MAX_NESTING = 40
_KEPT_CHILDREN = 64
AT_EXIT = 0
"""What stands among a shell's traps for its end."""
# How many commands run before other tasks on the same loop get their turn.
_COMMANDS_PER_TURN = 32
DEFAULT_ENVIRONMENT = {
    "ANDROID_ART_ROOT": "/apex/com.android.art",
    "ANDROID_ASSETS": "/system/app",
    "ANDROID_BOOTLOGO": "1",
    "ANDROID_DATA": "/data",
    "ANDROID_ROOT": "/system",
    "ANDROID_STORAGE": "/storage",
    "EXTERNAL_STORAGE": "/sdcard",
    "HOME": "/",
    "HOSTNAME": "localhost",
    "LOGNAME": "shell",
    "PATH": "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:"
    "/system_ext/bin:/system/bin:/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
    "SHELL": "/bin/sh",
    "TERM": "dumb",
    "TMPDIR": "/data/local/tmp",
    "USER": "shell",
}

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


async def call(command: Command, args: list[str], shell: Shell) -> int:
    """Call a command with a shell's descriptors; report its failure and return its status."""
    invocation = Invocation(args, shell.input(0), shell.output(1), shell.output(2), shell)
    try:
        return await command(invocation) & 0xFF
    except (ControlFlow, ShellFailure, BrokenPipe):
        raise
    except CommandFailure as failure:
        await invocation.err(f"{args[0]}: {failure.message}\n")
        return failure.status
    except FileSystemError as error:
        await invocation.err(f"{args[0]}: {error}\n")
    except (TextTooLong, MemoryError):
        await invocation.err(f"{args[0]}: Out of memory\n")
    except Exception:  # a bug in one command must not take the phone down
        _log.exception("the command %.1000r failed", args)
        await invocation.err(f"{args[0]}: internal error of the simulated command\n")
    return 1


class Shell:
    """The variables, working directory, descriptors and jobs of one shell."""

    def __init__(
        self,
        commands: Mapping[str, Command],
        files: FileSystem,
        *,
        env: dict[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        jobs: Jobs | None = None,
        name: str = "/system/bin/sh",
    ) -> None:
        self.commands = commands
        self.files = files
        self.env = dict(DEFAULT_ENVIRONMENT if env is None else env)
        self.clock = clock
        self.jobs = Jobs() if jobs is None else jobs
        self.name = name
        self.cwd = "/"
        self.pid = self.jobs.new_pid()
        self.position = ""  # the file and line that runs, for messages
        self.variables: dict[str, str] = {}
        self.positional: list[str] = []
        self.has_terminal = False
        self.status = 0
        self.substitution_status = 0
        self.fds: dict[int, Source | Output] = {}
        self.session: object = object()
        self.children: dict[int, Job] = {}
        self.last_job: int | None = None
        self.loops = 0
        self.stops_at_failure = False
        self.conditions = 0  # how many conditions this is inside of, where failing is no failure
        self.depth = 0
        self.traps: dict[int, str] = {}  # what runs at a signal, by its number
        self._commands_run = 0

    def subshell(self) -> Shell:
        """Return a copy that can change nothing in this shell."""
        inner = copy(self)
        inner.env = dict(self.env)
        inner.variables = dict(self.variables)
        inner.positional = list(self.positional)
        inner.fds = dict(self.fds)
        inner.children = {}
        inner.traps = {}
        inner.loops = 0
        return inner

    def child(self, *, name: str) -> Shell:
        """Return a new shell that knows only what is exported, as ``sh`` starts one."""
        inner = Shell(
            self.commands, self.files, env=self.env, clock=self.clock, jobs=self.jobs, name=name
        )
        inner.cwd = self.cwd
        inner.session = self.session
        inner.has_terminal = self.has_terminal
        inner.depth = self.depth
        inner.fds = dict(self.fds)
        return inner

    async def complain(self, message: str) -> None:
        """Write a message of the shell itself to standard error."""
        # A script that runs under its own name is not named twice.
        named = self.position.startswith(f"{self.name}[")
        prefix = self.position if named else f"{self.name}: {self.position}"
        await self.output(2).write(encode(f"{prefix}{message}\n"))

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

    # Background jobs

    def background(
        self, work: Coroutine[Any, Any, int], *, shell: Shell, name: str, ignores_hangup: bool
    ) -> None:
        """Run something in a subshell without waiting for it."""
        job = self.jobs.start(work, session=self.session, outputs=shell.outputs(), name=name)
        if job is None:
            raise ShellFailure("can't fork - try again")
        shell.pid = self.pid
        job.ignores_hangup = ignores_hangup
        self.last_job = job.pid
        self.children[job.pid] = job
        ended = [pid for pid, child in self.children.items() if child.task.done()]
        for pid in ended[: max(0, len(self.children) - _KEPT_CHILDREN)]:
            del self.children[pid]

    async def released(self, *outputs: Output) -> None:
        """Wait until no background job of this session can write to these outputs."""
        await self.jobs.released(*outputs, session=self.session)

    # Variables

    def get(self, name: str) -> str | None:
        """Return a variable, exported or not."""
        if name == "PWD":
            return self.cwd
        if name == "RANDOM":
            return str(int.from_bytes(os.urandom(2), "big") >> 1)
        value = self.variables.get(name)
        return self.env.get(name) if value is None else value

    def put(self, name: str, value: str) -> None:
        """Set a variable; it stays exported if it was."""
        if len(value) > MAX_TEXT:
            raise TextTooLong
        (self.env if name in self.env else self.variables)[name] = value

    def assign(self, name: str, value: str) -> None:
        """Set a variable as a script does; raise ShellFailure where it would not be respected."""
        if name == "IFS":
            raise ShellFailure("IFS is supported by the simulated shell only in front of 'read'")
        self.put(name, value)

    def export(self, name: str) -> None:
        """Make a variable visible to commands."""
        if name in self.variables:
            self.env[name] = self.variables.pop(name)
        else:
            self.env.setdefault(name, "")

    def parameter(self, name: str) -> str | None:
        """Return the value of ``$name``, special parameters included."""
        if name[0].isdigit():
            number = int(name[:9])
            if number == 0:
                return self.name
            return self.positional[number - 1] if number <= len(self.positional) else None
        special = _SPECIAL.get(name)
        return special(self) if special else self.get(name)

    # Descriptors

    def input(self, fd: int) -> Source:
        """Return what a descriptor reads from."""
        source = self.fds.get(fd)
        return source if isinstance(source, Source) else Source(Bytes())

    def output(self, fd: int) -> Output:
        """Return what a descriptor writes to."""
        output = self.fds.get(fd)
        return ClosedOutput() if output is None or isinstance(output, Source) else output

    def outputs(self) -> list[Output]:
        """Return everything that can be written to."""
        return [output for output in self.fds.values() if not isinstance(output, Source)]


_SPECIAL: dict[str, Callable[[Shell], str | None]] = {
    "?": lambda shell: str(shell.status),
    "$": lambda shell: str(shell.pid),
    "!": lambda shell: None if shell.last_job is None else str(shell.last_job),
    "#": lambda shell: str(len(shell.positional)),
    "*": lambda shell: " ".join(shell.positional) if shell.positional else None,
    "@": lambda shell: " ".join(shell.positional) if shell.positional else None,
}
