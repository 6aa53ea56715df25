"""Runs scripts: expands words to arguments, connects pipes and redirections, calls commands."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Sequence
from fnmatch import fnmatchcase
from typing import Any

from pytest_clawperator.simulator.files import FileSystemError
from pytest_clawperator.simulator.shell import streams, syntax
from pytest_clawperator.simulator.shell.shell import (
    CommandFailure,
    Shell,
    ShellExit,
    ShellFailure,
    execute,
)

_BROKEN_PIPE = 128 + 13
_WHITESPACE = re.compile(r"[ \t\n]+")
_Descriptors = dict[int, streams.Source | streams.Output]
# Some characters, and whether they were quoted.
_Piece = tuple[str, bool]


# Whole scripts, and commands that come in line by line


async def run_script(
    shell: Shell, script: str, stdin: streams.Input, stdout: streams.Output, stderr: streams.Output
) -> int:
    """Run a script to its end and return its status; cancelling ends all it started."""
    shell.fds = {0: streams.Source.of(stdin), 1: stdout, 2: stderr}
    return await isolated(shell, evaluate(shell, script))


async def run_input(
    shell: Shell, stdin: streams.Input, stdout: streams.Output, stderr: streams.Output
) -> int:
    """Run the commands that come from standard input, as a shell without arguments does."""
    shell.fds = {0: streams.Source.of(stdin), 1: stdout, 2: stderr}
    return await run_lines(shell)


async def run_lines(shell: Shell) -> int:
    """Run standard input to its end; an error ends a script, but not a person's session."""
    return await isolated(shell, _run_lines(shell))


async def _run_lines(shell: Shell) -> int:
    while True:
        try:
            program = await _next_command(shell)
        except syntax.ShellSyntaxError as error:
            if not shell.is_interactive:
                raise
            await shell.complain(str(error))
            shell.status = 1
            continue
        if program is None:
            return shell.status
        work = Runner(shell).program(program)
        shell.status = await (_reported(shell, work) if shell.is_interactive else work)


async def _next_command(shell: Shell) -> syntax.Program | None:
    """Collect lines of standard input to a complete command; None at the end of the input."""
    text = ""
    while True:
        if shell.is_interactive:
            prompt = "> " if text else f"{shell.env['HOSTNAME']}:{shell.cwd} $ "
            await shell.output(2).write(streams.encode(prompt))
        line = await shell.input(0).read_line()
        text += streams.decode(line.replace(b"\0", b""))
        if len(text) > streams.MAX_TEXT:
            raise streams.TextTooLong
        try:
            parser = syntax.Parser(text)
            program: syntax.Program = ()
            while (more := parser.next()) is not None:
                program += more
        except syntax.ShellSyntaxError as error:
            if not (error.incomplete and line):
                raise
            continue
        if program or not line:
            return program or None
        text = ""  # a line with nothing on it but a comment


async def isolated(shell: Shell, work: Coroutine[Any, Any, int]) -> int:
    """Run something to its end, whichever way that comes, as a process does."""
    try:
        return await _reported(shell, work) & 0xFF
    except ShellExit as exit_:
        return exit_.status & 0xFF
    except streams.BrokenPipe:
        return _BROKEN_PIPE


async def _reported(shell: Shell, work: Coroutine[Any, Any, int]) -> int:
    """Run something; report the error that ends it and return its status."""
    try:
        return await work
    except (ShellFailure, syntax.ShellSyntaxError) as error:
        await shell.complain(str(error))
    except streams.TextTooLong:
        await shell.complain(f"can't allocate {streams.MAX_TEXT} data bytes")
    except FileSystemError as error:
        await shell.complain(str(error))
    return 1


async def evaluate(shell: Shell, script: str) -> int:
    """Run a script in a shell's own state, line by line."""
    parser = syntax.Parser(script)
    status = 0
    with shell.deeper():
        while (program := parser.next()) is not None:
            status = await Runner(shell).program(program)
    return status


class Runner:
    """Runs programs in one shell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def program(self, program: syntax.Program) -> int:
        """Run commands one after the other."""
        shell = self._shell
        for chain in program:
            for operator, pipeline in chain:
                if not operator or (shell.status == 0) == (operator == "&&"):
                    await shell.give_turn()
                    shell.status = await self._pipeline(pipeline)
        return shell.status

    async def _pipeline(self, commands: syntax.Pipeline) -> int:
        """Run the commands of a pipeline together; return the status of the last."""
        if len(commands) == 1:
            return await self._command(commands[0])
        pipes: list[streams.Pipe | None] = [None, *(streams.Pipe() for _ in commands[1:]), None]
        tasks = [
            asyncio.create_task(
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

    async def _stage(
        self, command: syntax.Redirected, reads: streams.Pipe | None, writes: streams.Pipe | None
    ) -> int:
        """Run one command of a pipeline, and close its ends of the pipes behind it."""
        shell = self._shell
        if reads is not None:
            shell.fds[0] = streams.Source(reads)
        if writes is not None:
            shell.fds[1] = writes
        try:
            return await isolated(shell, self._command(command))
        finally:
            if reads is not None:
                reads.close_reading()
            if writes is not None:
                writes.close_writing()

    async def _command(self, node: syntax.Redirected) -> int:
        """Run one command with its redirections, which end with it."""
        shell = self._shell
        saved = shell.fds
        try:
            if isinstance(node.command, syntax.Simple):
                return await self._simple(node.command, node.redirects)
            shell.fds = await self._redirected(node.redirects)
            with shell.deeper():
                return await self._compound(node.command)
        except CommandFailure as failure:
            await shell.complain(str(failure))
            return failure.status
        finally:
            shell.fds = saved

    async def _simple(self, node: syntax.Simple, redirects: Sequence[syntax.Redirect]) -> int:
        shell = self._shell
        shell.substitution_status = 0
        arguments = await self._arguments(node.words)
        assigned = {name: await self._text(value) for name, value in node.assignments}
        shell.fds = await self._redirected(redirects)
        saved, shell.env = shell.env, {**shell.env, **assigned}
        if not arguments:
            return shell.substitution_status
        try:
            return await execute(shell, arguments)
        finally:
            if assigned:
                shell.env = saved

    async def _compound(self, command: syntax.Command) -> int:
        if isinstance(command, syntax.Group):
            if not command.in_subshell:
                return await self.program(command.body)
            inner = self._shell.subshell()
            return await isolated(inner, Runner(inner).program(command.body))
        status = 0
        if isinstance(command, syntax.Loop):
            while (await self.program(command.condition) == 0) != command.until:
                status = await self.program(command.body)
            return status
        assert not isinstance(command, syntax.Simple)
        is_met = await self.program(command.condition) == 0
        body = command.body if is_met else command.otherwise
        return await self.program(body) if body else 0

    # Words

    async def _arguments(self, words: Sequence[syntax.Word]) -> list[str]:
        """Expand the words of a command, each to any number of arguments."""
        arguments: list[str] = []
        for word in words:
            if word.static is not None:
                arguments.append(word.static)
                continue
            for field in await self._expand(word, splits=True):
                plain = "".join(text for text, quoted in field if not quoted)
                names = _matching_paths(field, self._shell) if {"*", "?"} & set(plain) else []
                arguments.extend(names or ["".join(text for text, _ in field)])
        return arguments

    async def _text(self, word: syntax.Word) -> str:
        """Expand a word to one text, without splitting and without file names."""
        fields = await self._expand(word, splits=False)
        return "".join(text for field in fields for text, _ in field)

    async def _expand(self, word: syntax.Word, *, splits: bool) -> list[list[_Piece]]:
        """Return the fields of a word, which are one or none if it is not split."""
        fields: list[list[_Piece]] = []
        is_open = False  # whether the next piece belongs to the last field
        size = 0
        for part in word.parts:
            if isinstance(part, syntax.Text):
                texts = [part.text]
            else:
                if isinstance(part, syntax.Substitution):
                    value = await self._substitute(part.body)
                else:
                    value = self._shell.parameter(part.name)
                texts = [value] if part.quoted or not splits else _WHITESPACE.split(value)
            for number, text in enumerate(texts):
                is_open = is_open and number == 0
                size += len(text)
                if size > streams.MAX_TEXT:
                    raise streams.TextTooLong
                if not text and not part.quoted:
                    continue
                if not is_open:
                    fields.append([])
                fields[-1].append((text, part.quoted))
                is_open = True
        return fields

    async def _substitute(self, body: syntax.Program) -> str:
        """Run the commands of ``$(…)``; return their output without newlines at its end."""
        output = streams.Collected()
        inner = self._shell.subshell()
        inner.fds[1] = output
        with inner.deeper():
            work = Runner(inner).program(body)
            self._shell.substitution_status = await isolated(inner, work)
        return streams.decode(output.data.replace(b"\0", b"").rstrip(b"\n"))

    # Redirections

    async def _redirected(self, redirects: Sequence[syntax.Redirect]) -> _Descriptors:
        """Return the descriptors with redirections applied; raise CommandFailure if one fails."""
        descriptors = dict(self._shell.fds)
        for fd, operator, word in redirects:
            target = await self._text(word)
            if operator in (">&", "<&"):
                if not target.isdecimal() or int(target[:9]) not in descriptors:
                    raise CommandFailure(f"{operator}{target} : bad file descriptor")
                descriptors[fd] = descriptors[int(target)]
            elif operator == "<":
                descriptors[fd] = _open_input(self._shell, target)
            else:
                descriptors[fd] = _open_output(self._shell, target, append=operator == ">>")
        return descriptors


def _open_input(shell: Shell, target: str) -> streams.Source:
    try:
        return streams.Source(streams.Bytes(shell.files.read(shell.path(target))))
    except FileSystemError as error:
        raise CommandFailure(f"can't open {target}: {error.reason}") from None


def _open_output(shell: Shell, target: str, *, append: bool) -> streams.Output:
    if target == "/dev/null":
        return streams.Discard()
    try:
        path = shell.path(target)
        (shell.files.append if append else shell.files.write)(path, b"")
    except FileSystemError as error:
        raise CommandFailure(f"can't create {target}: {error.reason}") from None
    return streams.FileOutput(shell.files, path)


def _matching_paths(field: Sequence[_Piece], shell: Shell) -> list[str]:
    """Return the existing paths that a word with ``*`` or ``?`` matches, sorted."""
    pattern = "".join(
        re.sub(r"[*?[]" if quoted else r"\[", r"[\g<0>]", text) for text, quoted in field
    )
    found = [""]
    for number, part in enumerate(pattern.split("/")):
        before = [path + "/" if number else path for path in found]
        if re.search(r"[*?](?!\])", part) is None:
            literal = re.sub(r"\[([*?[])\]", r"\1", part)
            found = [path + literal for path in before]
        else:
            found = [
                path + name
                for path in before
                for name in _names(shell, path)
                if fnmatchcase(name, part) and (name[0] != "." or part[0] == ".")
            ]
    return sorted(path for path in found if path and shell.files.exists(shell.path(path)))


def _names(shell: Shell, folder: str) -> list[str]:
    try:
        return shell.files.listdir(shell.path(folder or "."))
    except FileSystemError:
        return []
