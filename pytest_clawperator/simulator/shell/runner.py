"""Runs parsed scripts: lists, pipelines, loops, redirections, and the commands in them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.encoding import decode
from pytest_clawperator.simulator.shell.exits import (
    BrokenPipe,
    CommandFailure,
    LoopExit,
    ScriptAborted,
    ShellExit,
    ShellFailure,
    TextTooLong,
)
from pytest_clawperator.simulator.shell.jobs import SHELL
from pytest_clawperator.simulator.shell.language.expansion import Expander
from pytest_clawperator.simulator.shell.language.parser import Parser
from pytest_clawperator.simulator.shell.language.syntax import (
    Chain,
    Command,
    For,
    Group,
    If,
    Loop,
    Pipeline,
    Program,
    Redirect,
    Redirected,
    ShellSyntaxError,
    Simple,
)
from pytest_clawperator.simulator.shell.lookup import (
    IN_SHELL,
    find_command,
    read_script_file,
)
from pytest_clawperator.simulator.shell.redirects import open_redirects
from pytest_clawperator.simulator.shell.shell import Invocation, Shell, call
from pytest_clawperator.simulator.shell.streams import MAX_TEXT, Bytes, Collected, Pipe, Source

BROKEN_PIPE = 128 + 13


async def isolated(shell: Shell, work: Coroutine[Any, Any, int]) -> int:
    """Run something to its end, whichever way that comes, as a process does."""
    try:
        return await reported(shell, work) & 0xFF
    except ShellExit as exit_:
        return exit_.status & 0xFF
    except BrokenPipe:
        return BROKEN_PIPE


async def reported(shell: Shell, work: Coroutine[Any, Any, int]) -> int:
    """Run something; report the error that ends it and return its status."""
    try:
        return await work
    except LoopExit:
        return shell.status
    except ScriptAborted as aborted:
        return aborted.status
    except (ShellFailure, ShellSyntaxError) as error:
        await shell.complain(error.message)
    except TextTooLong:
        await shell.complain(f"can't allocate {MAX_TEXT} data bytes")
    except RecursionError:
        await shell.complain("nested too deeply")
    except FileSystemError as error:
        await shell.complain(str(error))
    return 1


async def evaluate(shell: Shell, script: str, *, file: str | None = None) -> int:
    """Run a script in a shell's own state; ``file`` is where it comes from, for messages."""
    parser = Parser(script)
    status = 0
    with shell.deeper():
        while True:
            try:
                program = parser.next()
            finally:
                if file is not None:
                    shell.position = f"{file}[{parser.line}]: "
            if program is None:
                return status
            status = await Runner(shell).program(program)


async def execute(shell: Shell, args: list[str]) -> int:
    """Find a command and run it with a shell's descriptors."""
    command = find_command(shell, args[0])
    if command is not None:
        try:
            return await call(command, args, shell)
        except BrokenPipe:
            if args[0] in IN_SHELL:
                raise
            return BROKEN_PIPE
    try:
        script = read_script_file(shell, args[0])
    except CommandFailure as failure:
        await shell.complain(failure.message)
        return failure.status
    inner = shell.child(name=args[0])
    inner.positional = args[1:]
    return await isolated(inner, evaluate(inner, script, file=args[0]))


async def spawn(invocation: Invocation, args: list[str]) -> int:
    """Run another command for a command, in a process of its own."""
    inner = invocation.shell.subshell()
    inner.fds = {0: Source.of(invocation.stdin), 1: invocation.stdout, 2: invocation.stderr}
    with inner.deeper():
        return await isolated(inner, execute(inner, args))


class Runner:
    """Runs programs in one shell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._expander = Expander(shell, self._substitute)

    async def program(self, program: Program) -> int:
        """Run commands one after the other."""
        for chain in program:
            if chain.background:
                self._start_background(chain)
                self._shell.status = 0
            else:
                await self._chain(chain)
        return self._shell.status

    def _start_background(self, chain: Chain) -> None:
        inner = self._shell.subshell()
        inner.fds[0] = Source(Bytes())
        first = chain.links[0][1].commands[0].command
        words = first.words if isinstance(first, Simple) else ()
        self._shell.background(
            Runner(inner)._detached(Chain(chain.links, False)),
            shell=inner,
            name=(words[0].static if words else None) or SHELL,
            ignores_hangup=bool(words) and words[0].static == "nohup",
        )

    async def _detached(self, chain: Chain) -> int:
        """Run commands in the background, in a shell made for them."""
        shell = self._shell
        commands = chain.links[0][1].commands
        if len(chain.links) > 1 or len(commands) > 1:
            return await isolated(shell, self.program((chain,)))
        # A single command becomes the process, which then holds only what it is redirected to.
        try:
            shell.fds = await open_redirects(shell, commands[0].redirects, self._expander)
        except CommandFailure as failure:
            await shell.complain(failure.message)
            return failure.status
        shell.jobs.redirect(shell.outputs())
        alone = Pipeline((Redirected(commands[0].command, ()),), chain.links[0][1].negated)
        return await isolated(shell, self.program((Chain((("", alone),), False),)))

    async def _chain(self, chain: Chain) -> None:
        shell = self._shell
        last = chain.links[-1][1]
        for operator, pipeline in chain.links:
            if operator and (shell.status == 0) != (operator == "&&"):
                continue
            if pipeline is not last or pipeline.negated:
                with self._condition():
                    await self._pipeline(pipeline)
                continue
            await self._pipeline(pipeline)
            stops = shell.stops_at_failure and not shell.conditions and _is_process(pipeline)
            if stops and shell.status:
                raise ShellExit(shell.status)

    @contextmanager
    def _condition(self) -> Iterator[None]:
        """Run something whose failure does not stop a script after ``set -e``."""
        self._shell.conditions += 1
        try:
            yield
        finally:
            self._shell.conditions -= 1

    async def _pipeline(self, pipeline: Pipeline) -> None:
        await self._shell.give_turn()
        if len(pipeline.commands) == 1:
            status = await self._command(pipeline.commands[0])
        else:
            with self._shell.jobs.pipeline(len(pipeline.commands)) as possible:
                if not possible:
                    raise ShellFailure("can't fork - try again")
                status = await self._stages(pipeline.commands)
        self._shell.status = int(status == 0) if pipeline.negated else status

    async def _stages(self, commands: Sequence[Redirected]) -> int:
        """Run the commands of a pipeline together; return the status of the last."""
        loop = asyncio.get_running_loop()
        pipes: list[Pipe | None] = [None, *(Pipe() for _ in commands[1:]), None]
        tasks = [
            loop.create_task(
                Runner(self._shell.subshell())._stage(command, *pipes[number : number + 2])
            )
            for number, command in enumerate(commands)
        ]
        try:
            await asyncio.wait(tasks)
        finally:
            await _cancel(tasks)
        return tasks[-1].result()

    async def _stage(self, command: Redirected, reads: Pipe | None, writes: Pipe | None) -> int:
        """Run one command of a pipeline, and close its ends of the pipes behind it."""
        shell = self._shell
        if reads is not None:
            shell.fds[0] = Source(reads)
        if writes is not None:
            shell.fds[1] = writes
        try:
            status = await isolated(shell, self._command(command))
            if reads is not None:
                reads.close_reading()
            if writes is not None:
                await shell.released(writes)
            return status
        finally:
            if reads is not None:
                reads.close_reading()
            if writes is not None:
                writes.close_writing()

    async def _command(self, node: Redirected) -> int:
        """Run one command with its redirections."""
        shell = self._shell
        try:
            if isinstance(node.command, Simple):
                return await self._simple(node.command, node.redirects)
            return await self._compound(node.command, node.redirects)
        except CommandFailure as failure:
            await shell.complain(failure.message)
            return failure.status

    async def _simple(self, node: Simple, redirects: Sequence[Redirect]) -> int:
        shell = self._shell
        shell.substitution_status = 0
        arguments = await self._expander.arguments(node.words)
        assignments = [
            (assignment.name, await self._expander.text(assignment.value))
            for assignment in node.assignments
        ]
        saved = shell.fds
        shell.fds = await open_redirects(shell, redirects, self._expander)
        try:
            if not arguments:
                for name, value in assignments:
                    shell.assign(name, value)
                return shell.substitution_status
            if arguments == ["exec"]:
                redirects = ()  # they stay
                return 0
            with self._exported(assignments):
                return await execute(shell, arguments)
        except ShellFailure as failure:
            await shell.complain(failure.message)
            raise ScriptAborted(1) from None
        finally:
            if redirects:
                shell.fds = saved

    @contextmanager
    def _exported(self, assignments: Sequence[tuple[str, str]]) -> Iterator[None]:
        """Export variables for one command only."""
        shell = self._shell
        saved = [(name, shell.env.get(name), shell.variables.get(name)) for name, _ in assignments]
        for name, value in assignments:
            shell.put(name, value)
            shell.export(name)
        try:
            yield
        finally:
            for name, exported, private in reversed(saved):
                for variables, old in ((shell.env, exported), (shell.variables, private)):
                    variables.pop(name, None)
                    if old is not None:
                        variables[name] = old

    async def _substitute(self, body: Program) -> str:
        """Run the commands of ``$(…)``; return their output without newlines at its end."""
        output = Collected()
        inner = self._shell.subshell()
        inner.fds[1] = output
        with inner.deeper():
            work = Runner(inner).program(body)
            self._shell.substitution_status = await isolated(inner, work)
            await inner.released(output)
        return decode(output.data.replace(b"\0", b"").rstrip(b"\n"))

    # Compound commands

    async def _compound(self, command: Command, redirects: Sequence[Redirect]) -> int:
        shell = self._shell
        saved = shell.fds
        shell.fds = await open_redirects(shell, redirects, self._expander)
        try:
            with shell.deeper():
                return await self._body(command)
        finally:
            if redirects:
                shell.fds = saved

    async def _body(self, command: Command) -> int:
        if isinstance(command, Group):
            if not command.in_subshell:
                return await self.program(command.body)
            inner = self._shell.subshell()
            return await isolated(inner, Runner(inner).program(command.body))
        if isinstance(command, If):
            return await self._if(command)
        if isinstance(command, Loop):
            return await self._loop(command)
        assert isinstance(command, For)
        return await self._for(command)

    async def _if(self, command: If) -> int:
        for condition, body in command.arms:
            with self._condition():
                status = await self.program(condition)
            if status == 0:
                return await self.program(body)
        return await self.program(command.otherwise) if command.otherwise else 0

    async def _loop(self, command: Loop) -> int:
        status = 0
        with self._looping():
            while True:
                await self._shell.give_turn()
                try:
                    with self._condition():
                        is_true = await self.program(command.condition) == 0
                    if is_true == command.until:
                        return status
                    status = await self.program(command.body)
                except LoopExit as exit_:
                    status = 0
                    if not exit_.again:
                        return status

    async def _for(self, command: For) -> int:
        status = 0
        values = await self._expander.arguments(command.words)
        with self._looping():
            for value in values:
                self._shell.assign(command.name, value)
                try:
                    status = await self.program(command.body)
                except LoopExit as exit_:
                    status = 0
                    if not exit_.again:
                        break
        return status

    @contextmanager
    def _looping(self) -> Iterator[None]:
        self._shell.loops += 1
        try:
            yield
        finally:
            self._shell.loops -= 1


def _is_process(pipeline: Pipeline) -> bool:
    """Whether a pipeline is more than a group or loop, whose commands were checked already."""
    command = pipeline.commands[0].command
    is_single = isinstance(command, Simple) or (isinstance(command, Group) and command.in_subshell)
    return is_single or len(pipeline.commands) > 1


async def _cancel(tasks: Sequence[asyncio.Task[int]]) -> None:
    """Cancel the tasks that still run, and wait for their end."""
    pending = [task for task in tasks if not task.done()]
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending)
