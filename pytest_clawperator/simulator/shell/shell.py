"""The device's shell: its state, and how commands are found and called."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

from pytest_clawperator.simulator.filesystem import FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.builtins import BUILTIN_NAMES
from pytest_clawperator.simulator.shell.escapes import decode, encode
from pytest_clawperator.simulator.shell.expansion import Expander, ShellFailure
from pytest_clawperator.simulator.shell.io import (
    MAX_TEXT,
    BrokenPipe,
    Bytes,
    ClosedOutput,
    Collected,
    Input,
    Output,
    Source,
    TextTooLong,
)
from pytest_clawperator.simulator.shell.jobs import Job, Jobs
from pytest_clawperator.simulator.shell.lexer import MAX_NESTING
from pytest_clawperator.simulator.shell.lines import Person, run_lines
from pytest_clawperator.simulator.shell.parser import Parser
from pytest_clawperator.simulator.shell.programs import (
    find_command,
    find_path,
    run_program_file,
)
from pytest_clawperator.simulator.shell.runner import Runner
from pytest_clawperator.simulator.shell.signals import (
    CommandFailure,
    FunctionReturn,
    LoopExit,
    ShellExit,
    ShellSignal,
)
from pytest_clawperator.simulator.shell.syntax import Program, Redirected, ShellSyntaxError

__all__ = ["Command", "CommandFailure", "Input", "Invocation", "Output", "Shell"]

BROKEN_PIPE = 128 + 13
_KEPT_CHILDREN = 64
# How many commands run before others on the same loop get their turn.
_BREATH = 32
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


class Shell:
    """One shell: runs scripts one after the other, and keeps their variables and folder."""

    def __init__(
        self,
        commands: Mapping[str, Command],
        files: FileSystem,
        *,
        env: dict[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        rng: random.Random | None = None,
        jobs: Jobs | None = None,
        name: str = "/system/bin/sh",
    ) -> None:
        self.commands = commands
        self.files = files
        self.env = dict(DEFAULT_ENVIRONMENT if env is None else env)
        self.clock = clock
        self.rng = rng
        self.jobs = Jobs() if jobs is None else jobs
        self.name = name
        self.cwd = "/"
        self.pid = self.jobs.new_pid()
        self.started = clock()
        self.place = ""  # where in which file the script is, for messages
        self.variables: dict[str, str] = {}
        self.readonly: set[str] = set()
        self.functions: dict[str, Redirected] = {}
        self.locals: list[dict[str, tuple[str | None, bool]]] = []
        self.positional: list[str] = []
        self.options: set[str] = set()
        self.exit_trap: str | None = None
        self.status = 0
        self.substitution_status = 0
        self.fds: dict[int, Source | Output] = {}
        self.session: object = object()
        self.children: dict[int, Job] = {}
        self.last_job: int | None = None
        self.loops = 0
        self.tested = 0
        self.depth = 0
        self._commands_run = 0
        self._connect()

    def _connect(self) -> None:
        self.expander = Expander(self)
        self.runner = Runner(self)

    # Running

    async def run(self, script: str, stdin: Input, stdout: Output, stderr: Output) -> int:
        """Run a script to its end and give its exit status; cancelling ends all it started."""
        self.fds = {0: Source.of(stdin), 1: stdout, 2: stderr}
        return await self._session(self.isolated(self.evaluate(script)))

    async def run_input(
        self, stdin: Input, stdout: Output, stderr: Output, *, person: Person | None = None
    ) -> int:
        """Run the commands that come from standard input, as a shell without arguments does."""
        self.fds = {0: Source.of(stdin), 1: stdout, 2: stderr}
        return await self._session(run_lines(self, person=person))

    async def _session(self, work: Coroutine[Any, Any, int]) -> int:
        self.session = object()
        try:
            return await work
        except asyncio.CancelledError:
            await self.jobs.stop(session=self.session)
            raise

    async def evaluate(self, script: str, *, file: str | None = None) -> int:
        """Run a script in this shell's own state, as ``eval`` or, from a file, ``.`` does."""
        parser = Parser(script)
        empty = True
        with self.deeper():
            while (program := self._next(parser, file)) is not None:
                empty = False
                await self.runner.program(program)
        self.status = 0 if empty else self.status
        return self.status

    def _next(self, parser: Parser, file: str | None) -> Program | None:
        try:
            return parser.next()
        finally:
            if file is not None:
                self.place = f"{file}[{parser.line}]: "

    async def isolated(self, work: Coroutine[Any, Any, int]) -> int:
        """Run something to its end, whichever way that comes, as a process does."""
        try:
            status = await self._until_exit(work)
            if self.exit_trap is not None:
                trap, self.exit_trap = self.exit_trap, None
                self.status = status
                await self._until_exit(self.evaluate(trap))
        except BrokenPipe:
            status = BROKEN_PIPE
        return status & 0xFF

    async def _until_exit(self, work: Coroutine[Any, Any, int]) -> int:
        try:
            return await self.reported(work)
        except ShellExit as exit_:
            return exit_.status

    async def reported(self, work: Coroutine[Any, Any, int]) -> int:
        """Run something; if the shell cannot go on with it, say why."""
        try:
            return await work
        except (FunctionReturn, LoopExit):
            return self.status
        except ShellFailure as failure:
            await self.report(failure)
            return failure.status
        except ShellSyntaxError as error:
            await self.complain(error.message)
        except TextTooLong:
            await self.complain(f"can't allocate {MAX_TEXT} data bytes")
        except RecursionError:
            await self.complain("nested too deeply")
        except FileSystemError as error:
            await self.complain(str(error))
        return 1

    async def report(self, failure: ShellFailure) -> None:
        """Say what went wrong, once, to the standard error of the command it went wrong in."""
        if not failure.reported:
            failure.reported = True
            await self.complain(failure.message)

    async def complain(self, message: str) -> None:
        """Write a message of the shell itself to standard error."""
        # A script that runs under its own name is not named twice.
        named = self.place.startswith(f"{self.name}[")
        prefix = self.place if named else f"{self.name}: {self.place}"
        await self.output(2).write(encode(f"{prefix}{message}\n"))

    def subshell(self) -> Shell:
        """Give a copy that can change nothing in this one."""
        inner = copy(self)
        inner.env = dict(self.env)
        inner.variables = dict(self.variables)
        inner.readonly = set(self.readonly)
        inner.functions = dict(self.functions)
        inner.positional = list(self.positional)
        inner.options = set(self.options)
        inner.locals = [dict(scope) for scope in self.locals]
        inner.fds = dict(self.fds)
        inner.exit_trap = None
        inner.children = {}
        inner.loops = 0
        inner._connect()
        return inner

    def child(self, *, name: str) -> Shell:
        """Give a new shell that knows only what is exported, as ``sh`` starts one."""
        inner = Shell(
            self.commands,
            self.files,
            env=self.env,
            clock=self.clock,
            rng=self.rng,
            jobs=self.jobs,
            name=name,
        )
        inner.cwd = self.cwd
        inner.session = self.session
        inner.depth = self.depth
        inner.fds = dict(self.fds)
        return inner

    async def substitute(self, body: Program) -> str:
        """Run commands and give what they write, without the newlines at its end."""
        output = Collected()
        inner = self.subshell()
        inner.fds[1] = output
        with inner.deeper():
            self.substitution_status = await inner.isolated(inner.runner.program(body))
            await inner.released(output)
        return decode(output.data.replace(b"\0", b"").rstrip(b"\n"))

    async def released(self, *outputs: Output) -> None:
        """Wait until no background job of this session can write to these any more."""
        await self.jobs.released(*outputs, session=self.session)

    def background(
        self, work: Coroutine[Any, Any, int], *, shell: Shell, ignores_hangup: bool
    ) -> None:
        """Run something in a subshell without waiting for it."""
        job = self.jobs.start(work, session=self.session, outputs=shell.outputs())
        if job is None:
            raise ShellFailure("can't fork - try again")
        shell.pid = self.pid
        job.ignores_hangup = ignores_hangup
        self.last_job = job.pid
        self.children[job.pid] = job
        ended = [pid for pid, child in self.children.items() if child.task.done()]
        for pid in ended[: max(0, len(self.children) - _KEPT_CHILDREN)]:
            del self.children[pid]

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

    async def breathe(self) -> None:
        """Let others on the loop have their turn now and then."""
        self._commands_run += 1
        if self._commands_run % _BREATH == 0:
            await asyncio.sleep(0)

    # Variables

    def get(self, name: str) -> str | None:
        """Give a variable, exported or not."""
        value = self.variables.get(name)
        if value is None:
            value = self.env.get(name)
        if value is None and name in _DYNAMIC:
            return _DYNAMIC[name](self)
        return value

    def put(self, name: str, value: str) -> None:
        """Set a variable; it stays exported if it was."""
        if name in self.readonly:
            raise ShellFailure(f"read-only: {name}", status=2)
        if len(value) > MAX_TEXT:
            raise TextTooLong
        if name in self.env:
            self.env[name] = value
        else:
            self.variables[name] = value

    def unset(self, name: str) -> None:
        """Forget a variable."""
        if name in self.readonly:
            raise ShellFailure(f"read-only: {name}")
        self.variables.pop(name, None)
        self.env.pop(name, None)

    def export(self, name: str) -> None:
        """Let commands see a variable."""
        if name in self.variables:
            self.env[name] = self.variables.pop(name)
        else:
            self.env.setdefault(name, "")

    def random_number(self) -> int:
        """Give the next ``$RANDOM``."""
        if self.rng is None:
            self.rng = random.Random(0)  # noqa: S311 - it keeps no secrets
        return self.rng.randrange(32768)

    def parameter(self, name: str) -> str | None:
        """Give what ``$name`` stands for, special parameters included."""
        if name[0].isdigit():
            number = int(name[:9])
            if number == 0:
                return self.name
            return self.positional[number - 1] if number <= len(self.positional) else None
        special = _SPECIAL.get(name)
        return special(self) if special else self.get(name)

    # Descriptors

    def input(self, fd: int) -> Source:
        """Give what a descriptor reads from."""
        source = self.fds.get(fd)
        return source if isinstance(source, Source) else Source(Bytes())

    def output(self, fd: int) -> Output:
        """Give what a descriptor writes to."""
        output = self.fds.get(fd)
        return ClosedOutput() if output is None or isinstance(output, Source) else output

    def outputs(self) -> list[Output]:
        """List everything that can be written to."""
        return [output for output in self.fds.values() if not isinstance(output, Source)]

    # Commands

    async def spawn(self, args: list[str], *, stdin: Input, stdout: Output, stderr: Output) -> int:
        """Run a command by name in a process of its own, for commands that call others."""
        inner = self.subshell()
        inner.fds = {0: Source.of(stdin), 1: stdout, 2: stderr}
        inner.functions = {}
        with inner.deeper():
            return await inner.isolated(inner.execute(args))

    async def execute(self, args: list[str]) -> int:
        """Find a command that is no function, and run it with this shell's descriptors."""
        command = find_command(self, args[0])
        if command is None:
            return await run_program_file(self, args)
        invocation = Invocation(args, self.input(0), self.output(1), self.output(2), self)
        try:
            return await command(invocation) & 0xFF
        except (ShellSignal, ShellFailure, ShellSyntaxError):
            raise
        except BrokenPipe:
            if args[0] in BUILTIN_NAMES:
                raise
            return BROKEN_PIPE
        except CommandFailure as failure:
            await invocation.err(f"{args[0]}: {failure.message}\n")
            return failure.status
        except FileSystemError as error:
            await invocation.err(f"{args[0]}: {error}\n")
        except (TextTooLong, MemoryError):
            await invocation.err(f"{args[0]}: Out of memory\n")
        except Exception:  # a bug in one command is no reason for the phone to go down
            _log.exception("the command %.1000r failed", args)
            await invocation.err(f"{args[0]}: internal error of the simulated command\n")
        return 1

    def find(self, name: str) -> str | None:
        """Say where a command is: its path, or its name if it is part of the shell."""
        return find_path(self, name)

    async def run_file(self, path: str, script: str, parameters: list[str]) -> int:
        """Run a script file in a new shell."""
        inner = self.child(name=path)
        inner.positional = parameters
        return await inner.isolated(inner.evaluate(script, file=path))


_SPECIAL: dict[str, Callable[[Shell], str | None]] = {
    "?": lambda shell: str(shell.status),
    "$": lambda shell: str(shell.pid),
    "!": lambda shell: None if shell.last_job is None else str(shell.last_job),
    "#": lambda shell: str(len(shell.positional)),
    "-": lambda shell: "".join(sorted(option for option in shell.options if len(option) == 1)),
}
_DYNAMIC: dict[str, Callable[[Shell], str]] = {
    "PWD": lambda shell: shell.cwd,
    "PPID": lambda shell: "1",
    "RANDOM": lambda shell: str(shell.random_number()),
    "SECONDS": lambda shell: str(int(shell.clock() - shell.started)),
    "EPOCHREALTIME": lambda shell: f"{shell.clock():.6f}",
}
