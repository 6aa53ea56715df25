"""Runs scripts: expands words to arguments, connects pipes and redirections, calls commands."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from fnmatch import fnmatchcase
from typing import Any

from pytest_clawperator.simulator.files import FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.shell import (
    CommandFailure,
    Shell,
    ShellExit,
    ShellFailure,
    execute,
)
from pytest_clawperator.simulator.shell.streams import (
    MAX_TEXT,
    BrokenPipe,
    Bytes,
    Collected,
    Discard,
    FileOutput,
    Input,
    Output,
    Pipe,
    Source,
    TextTooLong,
    decode,
    encode,
)
from pytest_clawperator.simulator.shell.syntax import (
    Command,
    Group,
    If,
    Loop,
    Parameter,
    Parser,
    Pipeline,
    Program,
    Redirect,
    Redirected,
    ShellSyntaxError,
    Simple,
    Substitution,
    Text,
    Word,
)

_WHITESPACE = re.compile(r"[ \t\n]+")

_MAX_NAMES = 4096

_MAX_PATTERN = 1024  # a file name has 255 bytes; a longer pattern would take long to try


# Some characters, and whether they were quoted.
_Piece = tuple[str, bool]


class Expander:
    """Expands words in the state of a shell; ``substitute`` runs ``$(…)``."""

    def __init__(self, shell: Shell, substitute: Callable[[Program], Awaitable[str]]) -> None:
        self._shell = shell
        self._substitute = substitute

    async def arguments(self, words: Sequence[Word]) -> list[str]:
        """Expand the words of a command, each to any number of arguments."""
        arguments: list[str] = []
        for word in words:
            if word.static is not None:
                arguments.append(word.static)
                continue
            for field in await self._expand(word, splits=True):
                names: list[str] = []
                if _is_wild(field):
                    names = _matching_paths(field, self._shell.files, self._shell.cwd)
                arguments.extend(names or ["".join(text for text, _ in field)])
        return arguments

    async def text(self, word: Word) -> str:
        """Expand a word to one text, without splitting and without file names."""
        if word.static is not None:
            return word.static
        fields = await self._expand(word, splits=False)
        return "".join(text for field in fields for text, _ in field)

    async def _expand(self, word: Word, *, splits: bool) -> list[list[_Piece]]:
        """Return the fields of a word, which are one or none if it is not split."""
        fields: list[list[_Piece]] = []
        is_open = False  # whether the next piece belongs to the last field
        size = 0
        for part in word.parts:
            if isinstance(part, Text):
                texts = [part.text]
            else:
                value = await self._value(part)
                texts = [value] if part.quoted or not splits else _WHITESPACE.split(value)
            for number, text in enumerate(texts):
                is_open = is_open and number == 0
                size += len(text)
                if size > MAX_TEXT:
                    raise TextTooLong
                if not text and not part.quoted:
                    continue
                if not is_open:
                    fields.append([])
                fields[-1].append((text, part.quoted))
                is_open = True
        return fields

    async def _value(self, part: Parameter | Substitution) -> str:
        if isinstance(part, Substitution):
            return await self._substitute(part.body)
        return self._shell.parameter(part.name) or ""


# Wildcards


def _is_wild(pieces: Sequence[_Piece]) -> bool:
    plain = "".join(text for text, quoted in pieces if not quoted)
    return "*" in plain or "?" in plain or -1 < plain.find("[") < plain.rfind("]")


def _matching_paths(pieces: Sequence[_Piece], files: FileSystem, cwd: str) -> list[str]:
    """Return the existing paths that a word with wildcards matches, sorted."""
    found = [""]
    for number, component in enumerate(_components(pieces)):
        separator = "/" if number else ""
        if _is_wild(component):
            names = (
                (path, name) for path in found for name in _names(files, cwd, path + separator)
            )
            found = [path + separator + name for path, name in names if _matches(name, component)]
        else:
            name = separator + "".join(text for text, _ in component)
            found = [path + name for path in found]
        if len(found) > _MAX_NAMES:
            raise TextTooLong
    return sorted(path for path in found if path and _exists(files, cwd, path))


def _components(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Yield the pieces of each part of a path."""
    component: list[_Piece] = []
    for text, quoted in pieces:
        first, *others = text.split("/")
        component.append((first, quoted))
        for other in others:
            yield component
            component = [(other, quoted)]
    yield component


def _matches(name: str, component: Sequence[_Piece]) -> bool:
    if name.startswith(".") and not component[0][0].startswith("."):
        return False
    pattern = "".join(
        re.sub(r"([*?[])", r"[\1]", text) if quoted else text for text, quoted in component
    )
    try:
        return len(pattern) <= _MAX_PATTERN and fnmatchcase(name, pattern)
    except re.error:
        return name == pattern


def _names(files: FileSystem, cwd: str, folder: str) -> list[str]:
    try:
        return files.listdir(files.resolve(folder or ".", cwd))
    except FileSystemError:
        return []


def _exists(files: FileSystem, cwd: str, path: str) -> bool:
    try:
        found = files.resolve(path, cwd)
        return files.is_dir(found) if path.endswith("/") else files.exists(found)
    except FileSystemError:
        return False


# Longer commands are parsed again only once they have grown by a quarter, or at the end.
_PARSED_EACH_LINE = 100

_BROKEN_PIPE = 128 + 13

# Commands of one pipeline; more than a script with a purpose needs.
_MAX_STAGES = 256


_Descriptors = dict[int, Source | Output]


async def run_script(
    shell: Shell, script: str, stdin: Input, stdout: Output, stderr: Output
) -> int:
    """Run a script to its end and return its status; cancelling ends all it started."""
    shell.fds = {0: Source.of(stdin), 1: stdout, 2: stderr}
    return await isolated(shell, evaluate(shell, script))


async def run_input(shell: Shell, stdin: Input, stdout: Output, stderr: Output) -> int:
    """Run the commands that come from standard input, as a shell without arguments does."""
    shell.fds = {0: Source.of(stdin), 1: stdout, 2: stderr}
    return await run_lines(shell)


async def run_lines(shell: Shell) -> int:
    """Run standard input to its end; an error ends a script, but not a person's session."""
    return await isolated(shell, _run_lines(shell))


async def _run_lines(shell: Shell) -> int:
    reader = _CommandReader(shell)
    while True:
        try:
            program = await reader.next()
        except ShellSyntaxError as error:
            if not shell.is_interactive:
                raise
            await shell.complain(error.message)
            shell.status = 1
            continue
        if program is None:
            return shell.status
        work = Runner(shell).program(program)
        shell.status = await (reported(shell, work) if shell.is_interactive else work)


async def isolated(shell: Shell, work: Coroutine[Any, Any, int]) -> int:
    """Run something to its end, whichever way that comes, as a process does."""
    try:
        return await reported(shell, work) & 0xFF
    except ShellExit as exit_:
        return exit_.status & 0xFF
    except BrokenPipe:
        return _BROKEN_PIPE


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


class _CommandReader:
    """Collects lines of standard input until they are a complete command."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._line = 0

    async def next(self) -> Program | None:
        """Read the next complete command; None at the end of the input."""
        shell = self._shell
        text, tried, lines = "", 0, 0
        while True:
            if shell.is_interactive:
                prompt = "> " if text else f"{shell.get('HOSTNAME')}:{shell.cwd} $ "
                await shell.output(2).write(encode(prompt))
            line = await shell.input(0).read_line()
            if not line and not text:
                return None
            text += decode(line.replace(b"\0", b""))
            self._line += bool(line)
            lines += 1
            if len(text) > MAX_TEXT:
                raise TextTooLong
            if line and lines > _PARSED_EACH_LINE and len(text) < tried * 5 // 4:
                continue
            tried = len(text)
            if not shell.is_interactive:
                shell.position = f"<stdin>[{self._line}]: "
            try:
                program = _parse(text)
            except ShellSyntaxError as error:
                if not (error.incomplete and line):
                    raise
                continue
            if program or not line:
                return program or None
            text, tried, lines = "", 0, 0  # a line with nothing on it but a comment


def _parse(text: str) -> Program:
    parser = Parser(text)
    program: Program = ()
    while (more := parser.next()) is not None:
        program += more
    return program


class Runner:
    """Runs programs in one shell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._expander = Expander(shell, self._substitute)

    async def program(self, program: Program) -> int:
        """Run commands one after the other."""
        shell = self._shell
        for chain in program:
            for operator, pipeline in chain:
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
        assignments = [(name, await self._expander.text(value)) for name, value in node.assignments]
        with await self._redirected(redirects):
            if not arguments:
                for name, value in assignments:
                    shell.put(name, value)
                return shell.substitution_status
            with self._exported(assignments):
                return await execute(shell, arguments)

    async def _redirected(self, redirects: Sequence[Redirect]) -> AbstractContextManager[None]:
        """Open redirections; return what applies them for the length of a block."""
        opened = await _open_redirects(self._shell, redirects, self._expander)
        return self._with_descriptors(opened)

    @contextmanager
    def _with_descriptors(self, descriptors: _Descriptors) -> Iterator[None]:
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


# Redirections


async def _open_redirects(
    shell: Shell, redirects: Sequence[Redirect], expander: Expander
) -> _Descriptors:
    """Return a shell's descriptors with redirections applied; raise CommandFailure if one fails."""
    if not redirects:
        return shell.fds
    descriptors = dict(shell.fds)
    for redirect in redirects:
        fd, operator = redirect.fd, redirect.operator
        target = await expander.text(redirect.target)
        if operator in (">&", "<&"):
            _duplicate(fd, operator, target, descriptors)
        elif operator == "<":
            descriptors[fd] = _open_input(shell, target)
        elif operator == "&>":
            descriptors[1] = descriptors[2] = _open_output(shell, target, append=False)
        else:
            descriptors[fd] = _open_output(shell, target, append=operator == ">>")
    return descriptors


def _duplicate(fd: int, operator: str, target: str, descriptors: _Descriptors) -> None:
    if target == "-":
        descriptors.pop(fd, None)
    elif not target.isdecimal():
        raise CommandFailure(f"{operator}{target} : illegal file descriptor name")
    elif int(target[:9]) not in descriptors:
        raise CommandFailure(f"{operator}{target} : bad file descriptor")
    else:
        descriptors[fd] = descriptors[int(target)]


def _open_input(shell: Shell, target: str) -> Source:
    try:
        return Source(Bytes(shell.files.read(_path(shell, target))))
    except FileSystemError as error:
        raise CommandFailure(f"can't open {target}: {error.reason}") from None


def _open_output(shell: Shell, target: str, *, append: bool) -> Output:
    if target == "/dev/null":
        return Discard()
    try:
        path = _path(shell, target)
        if append:
            shell.files.append(path, b"")
        else:
            shell.files.write(path, b"")
    except FileSystemError as error:
        raise CommandFailure(f"can't create {target}: {error.reason}") from None
    return FileOutput(shell.files, path)


def _path(shell: Shell, target: str) -> str:
    if not target:
        raise FileSystemError(target, reason="No such file or directory")
    return shell.files.resolve(target, shell.cwd)
