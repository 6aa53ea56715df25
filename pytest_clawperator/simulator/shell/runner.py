"""Runs the commands of a script: pipelines, loops, redirections and functions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.shell.builtins import SPECIAL_NAMES
from pytest_clawperator.simulator.shell.conditions import holds
from pytest_clawperator.simulator.shell.escapes import encode, quoted
from pytest_clawperator.simulator.shell.expansion import ShellFailure
from pytest_clawperator.simulator.shell.io import Bytes, Pipe, Source
from pytest_clawperator.simulator.shell.redirects import RedirectionError, redirected
from pytest_clawperator.simulator.shell.signals import FunctionReturn, LoopExit, ShellExit
from pytest_clawperator.simulator.shell.syntax import (
    Arithmetic,
    Assignment,
    Case,
    Chain,
    Command,
    Condition,
    For,
    Function,
    Group,
    If,
    Loop,
    Pipeline,
    Program,
    Redirect,
    Redirected,
    Simple,
    Subshell,
)

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Shell


class Runner:
    """Runs programs in one shell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def program(self, program: Program) -> int:
        """Run commands one after the other."""
        for chain in program:
            if chain.background:
                self._background(chain)
                self._shell.status = 0
            else:
                await self._chain(chain)
        return self._shell.status

    def _background(self, chain: Chain) -> None:
        inner = self._shell.subshell()
        inner.fds[0] = Source(Bytes())
        first = chain.links[0][1].commands[0].command
        words = first.words if isinstance(first, Simple) else ()
        self._shell.background(
            _detached(inner, Chain(chain.links, False)),
            shell=inner,
            ignores_hangup=bool(words) and words[0].static == "nohup",
        )

    async def _chain(self, chain: Chain) -> None:
        shell = self._shell
        last = len(chain.links) - 1
        for number, (operator, pipeline) in enumerate(chain.links):
            if operator and (shell.status == 0) != (operator == "&&"):
                continue
            if number == last and not pipeline.negated:
                await self._pipeline(pipeline)
                if shell.status and "e" in shell.options and not shell.tested:
                    raise ShellExit(shell.status)
            else:
                with self._tested():
                    await self._pipeline(pipeline)

    @contextmanager
    def _tested(self) -> Iterator[None]:
        """Run something whose failure is an answer, which ``set -e`` does not mind."""
        self._shell.tested += 1
        try:
            yield
        finally:
            self._shell.tested -= 1

    async def _pipeline(self, pipeline: Pipeline) -> None:
        shell = self._shell
        await shell.breathe()
        start = shell.clock()
        if len(pipeline.commands) == 1:
            status = await self.command(pipeline.commands[0])
        else:
            status = await self._piped(pipeline.commands)
        shell.status = int(status == 0) if pipeline.negated else status
        if pipeline.timed:
            minutes, seconds = divmod(max(0.0, shell.clock() - start), 60)
            used = "0m00.00s"
            await shell.output(2).write(
                encode(
                    f"{int(minutes):5d}m{seconds:05.2f}s real {used:>12} user {used:>12} system\n"
                )
            )

    async def _piped(self, commands: Sequence[Redirected]) -> int:
        with self._shell.jobs.pipeline(len(commands)) as possible:
            if not possible:
                raise ShellFailure("can't fork - try again")
            return await self._together(commands)

    async def _together(self, commands: Sequence[Redirected]) -> int:
        loop = asyncio.get_running_loop()
        pipes: list[Pipe | None] = [None, *(Pipe() for _ in commands[1:]), None]
        tasks = [
            loop.create_task(_stage(self._shell.subshell(), command, *pipes[number : number + 2]))
            for number, command in enumerate(commands)
        ]
        try:
            await asyncio.wait(tasks)
        finally:
            await _end(tasks)
        statuses = [task.result() for task in tasks]
        if "pipefail" in self._shell.options:
            return next((status for status in reversed(statuses) if status), 0)
        return statuses[-1]

    async def command(self, node: Redirected) -> int:
        """Run one command with its redirections."""
        if isinstance(node.command, Simple):
            return await self._simple(node.command, node.redirects)
        shell = self._shell
        saved = shell.fds
        try:
            descriptors = await redirected(shell, node.redirects)
        except RedirectionError as error:
            await shell.complain(str(error))
            return 1
        try:
            shell.fds = descriptors
            with shell.deeper():
                return await self._compound(node.command)
        finally:
            if node.redirects:
                shell.fds = saved

    # Simple commands

    async def _simple(self, node: Simple, redirects: Sequence[Redirect]) -> int:
        shell = self._shell
        shell.substitution_status = 0
        arguments = await shell.expander.arguments(node.words)
        assignments = [await self._value(assignment) for assignment in node.assignments]
        if "x" in shell.options:
            await self._trace(assignments, arguments)
        special = not arguments or arguments[0] in SPECIAL_NAMES
        try:
            descriptors = await redirected(shell, redirects)
        except RedirectionError as error:
            await shell.complain(str(error))
            if special and arguments:
                raise ShellExit(1) from None
            return 1
        if special:
            for name, value in assignments:
                shell.put(name, value)
            if arguments == ["exec"]:
                shell.fds = descriptors
                return 0
            if not arguments:
                return shell.substitution_status
        saved = shell.fds
        shell.fds = descriptors
        try:
            with self._temporary([] if special else assignments):
                return await self._call(arguments)
        except ShellFailure as failure:
            await shell.report(failure)
            raise
        finally:
            if redirects:
                shell.fds = saved

    async def _value(self, assignment: Assignment) -> tuple[str, str]:
        value = await self._shell.expander.text(assignment.value)
        if assignment.append:
            value = (self._shell.get(assignment.name) or "") + value
        return assignment.name, value

    async def _trace(
        self, assignments: Sequence[tuple[str, str]], arguments: Sequence[str]
    ) -> None:
        prefix = self._shell.get("PS4") or "+ "
        values = "".join(f"{name}={quoted(value)} " for name, value in assignments)
        line = prefix + values + " ".join(map(quoted, arguments)) + "\n"
        await self._shell.output(2).write(encode(line))

    @contextmanager
    def _temporary(self, assignments: Sequence[tuple[str, str]]) -> Iterator[None]:
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

    async def _call(self, arguments: list[str]) -> int:
        function = self._shell.functions.get(arguments[0])
        if function is None or arguments[0] in SPECIAL_NAMES:
            return await self._shell.execute(arguments)
        return await self._function(function, arguments[1:])

    async def _function(self, body: Redirected, parameters: list[str]) -> int:
        shell = self._shell
        saved, shell.positional = shell.positional, parameters
        loops, shell.loops = shell.loops, 0
        shell.locals.append({})
        try:
            with shell.deeper():
                return await self.command(body)
        except FunctionReturn:
            return shell.status
        finally:
            shell.positional = saved
            shell.loops = loops
            for name, (value, exported) in shell.locals.pop().items():
                shell.variables.pop(name, None)
                shell.env.pop(name, None)
                if value is not None:
                    (shell.env if exported else shell.variables)[name] = value

    # Compound commands

    async def _compound(self, command: Command) -> int:
        if isinstance(command, Group):
            return await self.program(command.body)
        if isinstance(command, Subshell):
            inner = self._shell.subshell()
            return await inner.isolated(inner.runner.program(command.body))
        if isinstance(command, If):
            return await self._if(command)
        if isinstance(command, Loop):
            return await self._loop(command)
        if isinstance(command, For):
            return await self._for(command)
        if isinstance(command, Case):
            return await self._case(command)
        if isinstance(command, Function):
            self._shell.functions[command.name] = command.body
            return 0
        if isinstance(command, Arithmetic):
            return int(await self._shell.expander.number(command.expression) == 0)
        assert isinstance(command, Condition)
        return int(not await holds(command, self._shell))

    async def _if(self, command: If) -> int:
        for condition, body in command.arms:
            if await self._is_true(condition):
                return await self._body(body)
        return await self._body(command.otherwise)

    async def _is_true(self, condition: Program) -> bool:
        with self._tested():
            return await self.program(condition) == 0

    async def _body(self, body: Program) -> int:
        return await self.program(body) if body else 0

    async def _loop(self, command: Loop) -> int:
        status = 0
        with self._looping():
            while True:
                await self._shell.breathe()
                try:
                    if await self._is_true(command.condition) == command.until:
                        return status
                    status = await self._body(command.body)
                except LoopExit as exit_:
                    status = 0
                    if not self._goes_on(exit_):
                        return status

    async def _for(self, command: For) -> int:
        shell = self._shell
        if command.words is None:
            values = list(shell.positional)
        else:
            values = await shell.expander.arguments(command.words)
        status = 0
        with self._looping():
            for value in values:
                shell.put(command.name, value)
                try:
                    status = await self._body(command.body)
                except LoopExit as exit_:
                    status = 0
                    if not self._goes_on(exit_):
                        break
        return status

    @contextmanager
    def _looping(self) -> Iterator[None]:
        self._shell.loops += 1
        try:
            yield
        finally:
            self._shell.loops -= 1

    def _goes_on(self, exit_: LoopExit) -> bool:
        """Tell whether this loop goes on; passes the signal on if it means an outer one."""
        if exit_.levels > 1 and self._shell.loops > 1:
            raise LoopExit(exit_.levels - 1, again=exit_.again)
        return exit_.again

    async def _case(self, command: Case) -> int:
        expander = self._shell.expander
        word = await expander.text(command.word)
        status, falls_through = 0, False
        for arm in command.arms:
            matches = falls_through
            for pattern in arm.patterns:
                if matches:
                    break
                matches = (await expander.pattern(pattern)).matches(word)
            if not matches:
                continue
            status = await self._body(arm.body)
            if arm.ending not in (";&", ";|"):
                break
            falls_through = arm.ending == ";&"
        return status


async def _detached(shell: Shell, chain: Chain) -> int:
    """Run commands in the background, in a shell made for them."""
    commands = chain.links[0][1].commands
    if len(chain.links) > 1 or len(commands) > 1:
        return await shell.isolated(shell.runner.program((chain,)))
    # One command becomes the process, which then holds only what it is redirected to.
    try:
        shell.fds = await redirected(shell, commands[0].redirects)
    except RedirectionError as error:
        await shell.complain(str(error))
        return 1
    shell.jobs.redirect(shell.outputs())
    alone = Pipeline((Redirected(commands[0].command, ()),), chain.links[0][1].negated)
    return await shell.isolated(shell.runner.program((Chain((("", alone),), False),)))


async def _stage(shell: Shell, command: Redirected, reads: Pipe | None, writes: Pipe | None) -> int:
    """Run one command of a pipeline, and close its ends of the pipes behind it."""
    if reads is not None:
        shell.fds[0] = Source(reads)
    if writes is not None:
        shell.fds[1] = writes
    try:
        status = await shell.isolated(shell.runner.command(command))
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


async def _end(tasks: Sequence[asyncio.Task[int]]) -> None:
    """Make sure that tasks are over, cancelling those that are not."""
    pending = [task for task in tasks if not task.done()]
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending)
