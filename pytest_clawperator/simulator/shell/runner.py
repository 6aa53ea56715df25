"""Runs parsed scripts: lists, pipelines, loops, redirections, and the commands in them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.encoding import decode
from pytest_clawperator.simulator.shell.exits import CommandFailure, ShellExit, ShellFailure
from pytest_clawperator.simulator.shell.language.expansion import Expander
from pytest_clawperator.simulator.shell.language.parser import Parser
from pytest_clawperator.simulator.shell.language.syntax import (
    Command,
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
from pytest_clawperator.simulator.shell.lookup import IN_SHELL, find_command
from pytest_clawperator.simulator.shell.redirects import Descriptors, open_redirects
from pytest_clawperator.simulator.shell.shell import Shell, call
from pytest_clawperator.simulator.shell.streams import (
    MAX_TEXT,
    BrokenPipe,
    Collected,
    Pipe,
    Source,
    TextTooLong,
)

BROKEN_PIPE = 128 + 13
# Commands of one pipeline; more than a script with a purpose needs.
_MAX_STAGES = 256


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
    except (ShellFailure, ShellSyntaxError) as error:
        await shell.complain(error.message)
    except TextTooLong:
        await shell.complain(f"can't allocate {MAX_TEXT} data bytes")
    except RecursionError:
        await shell.complain("nested too deeply")
    except FileSystemError as error:
        await shell.complain(str(error))
    return 1


async def evaluate(shell: Shell, script: str) -> int:
    """Run a script in a shell's own state, line by line."""
    parser = Parser(script)
    status = 0
    with shell.deeper():
        while (program := parser.next()) is not None:
            status = await Runner(shell).program(program)
    return status


async def execute(shell: Shell, args: list[str]) -> int:
    """Find a command and run it with a shell's descriptors."""
    try:
        command = find_command(shell, args[0])
    except CommandFailure as failure:
        await shell.complain(failure.message)
        return failure.status
    try:
        return await call(command, args, shell)
    except BrokenPipe:
        if args[0] in IN_SHELL:
            raise
        return BROKEN_PIPE


class Runner:
    """Runs programs in one shell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._expander = Expander(shell, self._substitute)

    async def program(self, program: Program) -> int:
        """Run commands one after the other."""
        shell = self._shell
        for chain in program:
            for operator, pipeline in chain.links:
                if not operator or (shell.status == 0) == (operator == "&&"):
                    await self._pipeline(pipeline)
        return shell.status

    async def _pipeline(self, pipeline: Pipeline) -> None:
        await self._shell.give_turn()
        if len(pipeline.commands) == 1:
            status = await self._command(pipeline.commands[0])
        elif len(pipeline.commands) > _MAX_STAGES:
            raise ShellFailure("can't fork - try again")
        else:
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
            pending = [task for task in tasks if not task.done()]
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending)
        return tasks[-1].result()

    async def _stage(self, command: Redirected, reads: Pipe | None, writes: Pipe | None) -> int:
        """Run one command of a pipeline, and close its ends of the pipes behind it."""
        shell = self._shell
        if reads is not None:
            shell.fds[0] = Source(reads)
        if writes is not None:
            shell.fds[1] = writes
        try:
            return await isolated(shell, self._command(command))
        finally:
            if reads is not None:
                reads.close_reading()
            if writes is not None:
                writes.close_writing()

    async def _command(self, node: Redirected) -> int:
        """Run one command with its redirections."""
        try:
            if isinstance(node.command, Simple):
                return await self._simple(node.command, node.redirects)
            with await self._redirected(node.redirects), self._shell.deeper():
                return await self._compound(node.command)
        except CommandFailure as failure:
            await self._shell.complain(failure.message)
            return failure.status

    async def _simple(self, node: Simple, redirects: Sequence[Redirect]) -> int:
        shell = self._shell
        shell.substitution_status = 0
        arguments = await self._expander.arguments(node.words)
        assignments = [
            (assignment.name, await self._expander.text(assignment.value))
            for assignment in node.assignments
        ]
        with await self._redirected(redirects):
            if not arguments:
                for name, value in assignments:
                    shell.put(name, value)
                return shell.substitution_status
            with self._exported(assignments):
                return await execute(shell, arguments)

    async def _redirected(self, redirects: Sequence[Redirect]) -> AbstractContextManager[None]:
        """Open redirections; return what applies them for the length of a block."""
        opened = await open_redirects(self._shell, redirects, self._expander)
        return self._with_descriptors(opened)

    @contextmanager
    def _with_descriptors(self, descriptors: Descriptors) -> Iterator[None]:
        saved, self._shell.fds = self._shell.fds, descriptors
        try:
            yield
        finally:
            self._shell.fds = saved

    @contextmanager
    def _exported(self, assignments: Sequence[tuple[str, str]]) -> Iterator[None]:
        """Export variables for one command only."""
        shell = self._shell
        saved = dict(shell.env), dict(shell.variables)
        for name, value in assignments:
            shell.put(name, value)
            shell.export(name)
        try:
            yield
        finally:
            if assignments:
                shell.env, shell.variables = saved

    async def _substitute(self, body: Program) -> str:
        """Run the commands of ``$(…)``; return their output without newlines at its end."""
        output = Collected()
        inner = self._shell.subshell()
        inner.fds[1] = output
        with inner.deeper():
            work = Runner(inner).program(body)
            self._shell.substitution_status = await isolated(inner, work)
        return decode(output.data.replace(b"\0", b"").rstrip(b"\n"))

    async def _compound(self, command: Command) -> int:
        if isinstance(command, Group):
            if not command.in_subshell:
                return await self.program(command.body)
            inner = self._shell.subshell()
            return await isolated(inner, Runner(inner).program(command.body))
        if isinstance(command, Loop):
            return await self._loop(command)
        assert isinstance(command, If)
        for condition, body in command.arms:
            if await self.program(condition) == 0:
                return await self.program(body)
        return await self.program(command.otherwise) if command.otherwise else 0

    async def _loop(self, command: Loop) -> int:
        status = 0
        while (await self.program(command.condition) == 0) != command.until:
            status = await self.program(command.body)
        return status
