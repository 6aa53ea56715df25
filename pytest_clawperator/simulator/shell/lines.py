"""Runs commands that come in line by line: a piped script, or a person at a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from pytest_clawperator.simulator.shell.escapes import decode
from pytest_clawperator.simulator.shell.io import MAX_TEXT, TextTooLong
from pytest_clawperator.simulator.shell.parser import Parser
from pytest_clawperator.simulator.shell.syntax import Program, ShellSyntaxError

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Shell

# Longer commands are tried again only once they have grown by a quarter, or at the end.
_TRIED_EACH_LINE = 100
INTERRUPTED = 128 + 2


class Person(Protocol):
    """Somebody who types commands, and may interrupt them."""

    async def prompt(self, *, unfinished: bool) -> None:
        """Ask for the next line."""

    def runs(self, task: asyncio.Task[int] | None) -> None:
        """Take note of what an interrupt would end."""


async def run_lines(shell: Shell, *, person: Person | None = None) -> int:
    """Run standard input to its end; errors end a script, but not a person's shell."""
    return await shell.isolated(_run(shell, person))


async def _run(shell: Shell, person: Person | None) -> int:
    reader = _Reader(shell, person)
    while True:
        try:
            program = await reader.next()
        except ShellSyntaxError as error:
            if person is None:
                raise
            await shell.complain(error.message)
            shell.status = 1
            continue
        if program is None:
            return shell.status
        if person is None:
            await shell.runner.program(program)
        else:
            shell.status = await interruptible(_reported(shell, program), person)


async def _reported(shell: Shell, program: Program) -> int:
    return await shell.reported(shell.runner.program(program))


async def interruptible(work: Coroutine[Any, Any, int], person: Person) -> int:
    """Run something that a person can end; give its status, or that of the interrupt."""
    task = asyncio.get_running_loop().create_task(work)
    person.runs(task)
    try:
        await asyncio.wait([task])
    finally:
        person.runs(None)
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
    return INTERRUPTED if task.cancelled() else task.result()


class _Reader:
    """Collects lines until they are a complete command."""

    def __init__(self, shell: Shell, person: Person | None) -> None:
        self._shell = shell
        self._person = person
        self._line = 0

    async def next(self) -> Program | None:
        """Read the next complete command; None at the end of the input."""
        text, tried, lines = "", 0, 0
        while True:
            if self._person is not None:
                await self._person.prompt(unfinished=bool(text))
            line = await self._shell.input(0).read_line()
            if not line and not text:
                return None
            text += decode(line.replace(b"\0", b""))
            self._line += bool(line)
            lines += 1
            if len(text) > MAX_TEXT:
                raise TextTooLong
            if line and lines > _TRIED_EACH_LINE and len(text) < tried * 5 // 4:
                continue
            tried = len(text)
            if self._person is None:
                self._shell.place = f"<stdin>[{self._line}]: "
            try:
                program = _parsed(text)
            except ShellSyntaxError as error:
                if not (error.incomplete and line):
                    raise
                continue
            if program or not line:
                return program or None
            text, tried, lines = "", 0, 0  # a line with nothing on it but a comment


def _parsed(text: str) -> Program:
    parser = Parser(text)
    program: Program = ()
    while (more := parser.next()) is not None:
        program += more
    return program
