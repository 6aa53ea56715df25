"""The commands of the shell itself, and the small tools of the system image."""

from __future__ import annotations

import asyncio
import operator
import re
import stat as modes
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from datetime import datetime, timezone

from pytest_clawperator.simulator.files import MISSING, NOT_DIRECTORY, FileSystemError, Stat
from pytest_clawperator.simulator.shell.runner import evaluate, isolated, run_lines
from pytest_clawperator.simulator.shell.shell import (
    Command,
    CommandFailure,
    Invocation,
    ShellExit,
    ShellFailure,
    execute,
)
from pytest_clawperator.simulator.shell.streams import Bytes, Source, decode

# Parts of the shell


async def true(invocation: Invocation) -> int:
    """Succeed."""
    return 0


async def false(invocation: Invocation) -> int:
    """Fail."""
    return 1


async def exit_(invocation: Invocation) -> int:
    """End the shell, with the status of the last command or the given one."""
    if len(invocation.args) < 2:
        raise ShellExit(invocation.shell.status)
    text = invocation.args[1]
    if not re.fullmatch(r"-?[0-9]{1,12}", text, re.ASCII):
        raise ShellFailure(f"exit: bad number: {text}")
    raise ShellExit(int(text) & 0xFF)


async def exec_(invocation: Invocation) -> int:
    """Replace the shell: run a command, then end."""
    arguments = invocation.args[1:]
    if not arguments:
        raise ShellFailure("exec without a command is not supported by the simulated shell")
    with invocation.shell.deeper():
        raise ShellExit(await execute(invocation.shell, arguments))


async def export(invocation: Invocation) -> int:
    """Set variables; as all of them reach commands, there is nothing more to do."""
    for argument in invocation.args[1:]:
        name, assigned, value = argument.partition("=")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ShellFailure(f"{name}: is not an identifier")
        if assigned:
            invocation.shell.env[name] = value
    return 0


async def cd(invocation: Invocation) -> int:
    """Change the working directory."""
    shell = invocation.shell
    target = invocation.args[1] if len(invocation.args) > 1 else "/"
    path = shell.path(target)
    if not shell.files.is_dir(path):
        reason = NOT_DIRECTORY if shell.files.exists(path) else MISSING
        await shell.complain(f"cd: {path}: {reason}")
        return 2
    shell.cwd = path
    return 0


async def pwd(invocation: Invocation) -> int:
    """Print the working directory."""
    await invocation.out(f"{invocation.shell.cwd}\n")
    return 0


async def bracket(invocation: Invocation) -> int:
    """Answer ``[ … ]``: compare two texts or numbers, or check one text or file."""
    words = invocation.args[1:]
    if words[-1:] != ["]"]:
        raise CommandFailure("missing ]", status=2)
    words.pop()
    negated = words[:1] == ["!"]
    return int(_is_true(invocation, words[negated:]) == negated)


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}


def _is_true(invocation: Invocation, words: list[str]) -> bool:
    shell = invocation.shell
    match words:
        case [] | [_]:
            return bool(words and words[0])
        case ["-n" | "-z" as sign, text]:
            return bool(text) == (sign == "-n")
        case ["-e" | "-f" | "-d" as sign, text]:
            path = shell.path(text or "/missing")
            is_kind = sign == "-e" or shell.files.is_dir(path) == (sign == "-d")
            return shell.files.exists(path) and is_kind
        case [left, "=" | "!=" as sign, right]:
            return (left == right) == (sign == "=")
        case [left, sign, right] if sign in _COMPARISONS:
            return _COMPARISONS[sign](_number(left), _number(right))
    raise CommandFailure(f"{' '.join(words)}: unexpected operator/operand", status=2)


def _number(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text.strip(), re.ASCII):
        raise CommandFailure(f"{text}: bad number", status=2)
    return int(text)


async def sleep(invocation: Invocation) -> int:
    """Wait this many seconds, or until a signal comes."""
    shell, arguments = invocation.shell, invocation.args[1:]
    if len(arguments) != 1 or not re.fullmatch(r"[0-9]{1,8}\.?[0-9]{0,9}", arguments[0], re.ASCII):
        await shell.complain(f"sleep: syntax error: {' '.join(arguments)}")
        return 1
    signalled: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with shell.jobs.program("sleep", pid=shell.pid, signal=signalled.set_result):
        await asyncio.wait([signalled], timeout=float(arguments[0]))
    return 128 + signalled.result() if signalled.done() else 0


_ECHO_OPTION = re.compile(r"-[neE]+")
_ESCAPES = {"\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t"}


async def echo(invocation: Invocation) -> int:
    """Print the arguments; like Android's, it decodes backslash escapes by default."""
    arguments = invocation.args[1:]
    newline, escapes = "\n", True
    while arguments and _ECHO_OPTION.fullmatch(arguments[0]):
        option = arguments.pop(0)
        newline = "" if "n" in option else newline
        escapes = escapes and "E" not in option
    text = " ".join(arguments)
    if escapes:
        text = re.sub(r"\\[\\nrt]", lambda match: _ESCAPES[match[0]], text)
    await invocation.out(text + newline)
    return 0


async def sh(invocation: Invocation) -> int:
    """Run a script in a new shell: from an argument, a file, or standard input."""
    name, *arguments = invocation.args
    shell = invocation.shell.child(name=name)
    with shell.deeper():
        if not arguments:
            return await run_lines(shell)
        if arguments[0] == "-c":
            if len(arguments) < 2:
                raise CommandFailure("-c requires an argument")
            script = arguments[1]
        elif arguments[0].startswith("-"):
            raise CommandFailure(f"{arguments[0]}: unknown option")
        else:
            try:
                script = decode(shell.files.read(shell.path(arguments[0])))
            except FileSystemError as error:
                raise CommandFailure(f"{arguments[0]}: {error.reason}", status=127) from None
        return await isolated(shell, evaluate(shell, script))


# Tools


def parse_options(
    args: Sequence[str], *, flags: str = "", least: int = 0
) -> tuple[set[str], list[str]]:
    """Return the one-letter flags and the operands of a tool; CommandFailure for other flags."""
    name, *waiting = args
    given: set[str] = set()
    operands: list[str] = []
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            operands += waiting
            break
        if not word.startswith("-") or len(word) == 1:
            operands.append(word)
            continue
        unknown = [letter for letter in word[1:] if letter not in flags]
        if unknown:
            raise CommandFailure(f"Unknown option '{unknown[0]}' (see \"{name} --help\")")
        given.update(word[1:])
    if len(operands) < least:
        raise CommandFailure(f'Needs {least} argument (see "{name} --help")')
    return given, operands


class _Inputs:
    """The files a tool reads, or standard input; missing ones are reported and skipped."""

    def __init__(self, invocation: Invocation, paths: Sequence[str], *, name: str) -> None:
        self._invocation = invocation
        self._paths = list(paths)
        self._name = name
        self.status = 0

    async def __aiter__(self) -> AsyncIterator[Source]:
        if not self._paths:
            yield Source.of(self._invocation.stdin)
        shell = self._invocation.shell
        for path in self._paths:
            if path == "-":
                yield Source.of(self._invocation.stdin)
                continue
            try:
                yield Source(Bytes(shell.files.read(shell.path(path))))
            except FileSystemError as error:
                self.status = 1
                await self._invocation.err(f"{self._name}: {path}: {error.reason}\n")


async def cat(invocation: Invocation) -> int:
    """Copy files, or standard input, to standard output."""
    _, operands = parse_options(invocation.args)
    # It is part of the shell, and complains in its name.
    inputs = _Inputs(invocation, operands, name=f"{invocation.shell.name}: cat")
    async for source in inputs:
        while data := await source.read():
            await invocation.stdout.write(data)
    return inputs.status


async def date(invocation: Invocation) -> int:
    """Print the device's date and time, in the format behind ``+`` if one is given."""
    _, operands = parse_options(invocation.args, flags="u")
    form = operands[0] if operands else "+%a %b %e %H:%M:%S GMT %Y"
    if not form.startswith("+"):
        raise CommandFailure("cannot set date: Operation not permitted")
    now = datetime.fromtimestamp(invocation.shell.clock(), timezone.utc)
    form = form[1:].replace("%s", str(int(now.timestamp()))).replace("%N", f"{now:%f}000")
    await invocation.out(f"{now.strftime(form)}\n")
    return 0


async def df(invocation: Invocation) -> int:
    """Print the size of the storage and how much of it is free; all paths are on one volume."""
    _, operands = parse_options(invocation.args, flags="kh")
    files = invocation.shell.files
    size, free = files.capacity_bytes // 1024, files.free_bytes // 1024
    used = size - free
    share = f"{100 * used // size}%"
    await invocation.out(f"{'Filesystem':<17}{'1K-blocks':>10}{'Used':>10}{'Available':>10}")
    await invocation.out(" Use% Mounted on\n")
    for _ in operands or ["/data"]:
        await invocation.out(f"{'/dev/block/dm-50':<17}{size:>10}{used:>10}{free:>10}")
        await invocation.out(f"{share:>5} /data\n")
    return 0


async def id_(invocation: Invocation) -> int:
    """Print the shell's user."""
    await invocation.out("uid=2000(shell) gid=2000(shell) context=u:r:shell:s0\n")
    return 0


async def ls(invocation: Invocation) -> int:
    """List files, or what is in folders."""
    flags, operands = parse_options(invocation.args, flags="1adl")
    shell, status = invocation.shell, 0
    for operand in sorted(operands) or ["."]:
        try:
            path = shell.path(operand)
            names, folder = [operand], ""
            if modes.S_ISDIR(shell.files.stat(path).mode) and "d" not in flags:
                names, folder = shell.files.listdir(path), f"{path}/"
                names = [name for name in names if "a" in flags or name[0] != "."]
            for name in names:
                found = shell.files.stat(shell.path(folder + name))
                await invocation.out(_listed(name, found, is_long="l" in flags))
        except FileSystemError as error:
            status = 1
            await invocation.err(f"ls: {operand}: {error.reason}\n")
    return status


def _listed(name: str, found: Stat, *, is_long: bool) -> str:
    if not is_long:
        return f"{name}\n"
    moment = datetime.fromtimestamp(found.mtime, timezone.utc)
    mode = modes.filemode(found.mode)
    return f"{mode} 1 shell shell {found.size:>8} {moment:%Y-%m-%d %H:%M} {name}\n"


async def mkdir(invocation: Invocation) -> int:
    """Make folders, with ``-p`` those above them too."""
    flags, operands = parse_options(invocation.args, flags="p", least=1)
    for operand in operands:
        invocation.shell.files.mkdir(invocation.shell.path(operand), parents="p" in flags)
    return 0


async def rm(invocation: Invocation) -> int:
    """Remove files, and with ``-r`` folders."""
    flags, operands = parse_options(invocation.args, flags="fRr", least=1)
    recursive = bool(flags & {"r", "R"})
    status = 0
    for operand in operands:
        try:
            invocation.shell.files.remove(invocation.shell.path(operand), recursive=recursive)
        except FileSystemError as error:
            if "f" not in flags or error.reason != MISSING:
                status = 1
                await invocation.err(f"rm: {operand}: {error.reason}\n")
    return status


async def touch(invocation: Invocation) -> int:
    """Set the time of files to now; make those that are missing."""
    for operand in parse_options(invocation.args, least=1)[1]:
        invocation.shell.files.touch(invocation.shell.path(operand))
    return 0


# grep

_LINES_PER_TURN = 64
# Python tries every way in which a pattern could match, so patterns and lines are kept short.
_MAX_PATTERN, _MAX_REPETITIONS, _LONGEST_LINE = 200, 2, 4096
_REPETITION = re.compile(r"(?<!\\)[*+{]")
_CLASSES = {
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:space:]": r"\s",
}


async def grep(invocation: Invocation) -> int:
    """Print the lines that match; return 0 if there were any, 1 if none, 2 after an error."""
    flags, operands = parse_options(invocation.args, flags="EFcinqv")
    if not operands:
        raise CommandFailure("no REGEX", status=2)
    pieces = _compiled(operands[0], flags)
    found = number = 0
    inputs = _Inputs(invocation, operands[1:], name="grep")
    async for source in inputs:
        while raw := await source.read_line():
            number += 1
            if number % _LINES_PER_TURN == 0:
                await asyncio.sleep(0)
            line = decode(raw.removesuffix(b"\n"))
            if _matches(pieces, line) == ("v" in flags):
                continue
            found += 1
            if "q" in flags:
                return 0
            if "c" not in flags:
                await invocation.out(f"{number}:{line}\n" if "n" in flags else f"{line}\n")
    if "c" in flags:
        await invocation.out(f"{found}\n")
    return 2 if inputs.status else int(not found)


def _matches(pieces: Sequence[re.Pattern[str]], line: str) -> bool:
    """Whether all pieces are in the line, each behind the one before."""
    end = 0
    for piece in pieces:
        found = piece.search(line, end, _LONGEST_LINE)
        if found is None:
            return False
        end = found.end()
    return True


def _compiled(text: str, flags: Collection[str]) -> list[re.Pattern[str]]:
    """Compile an expression; one without groups is cut at ``.*``, which costs much time."""
    how = re.ASCII | (re.IGNORECASE if "i" in flags else re.RegexFlag(0))
    if "F" in flags:
        return [re.compile(re.escape(text), how)]
    pattern = text
    if "E" not in flags:
        # In a basic expression these are operators with a backslash, and text without one.
        pattern = re.sub(r"\\?[(){}|+?]", lambda sign: rf"\{sign[0]}".removeprefix(r"\\"), text)
    for name, members in _CLASSES.items():
        pattern = pattern.replace(name, members)
    pieces = [pattern] if {"(", "|", "["} & set(pattern) else pattern.split(".*")
    try:
        if len(text) > _MAX_PATTERN:
            raise ValueError("too long for the simulated grep")
        for piece in pieces:
            if len(_REPETITION.findall(piece)) > _MAX_REPETITIONS:
                raise ValueError("too many repetitions for the simulated grep")
        if re.search(r"\)[*+?{]", pattern):
            raise ValueError("a group cannot be repeated in the simulated grep")
        return [re.compile(piece, how) for piece in pieces]
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise CommandFailure(f"bad regex '{text[:100]}': {error}", status=2) from None


SHELL_COMMANDS: dict[str, Command] = {
    "[": bracket,
    "cat": cat,
    "cd": cd,
    "date": date,
    "df": df,
    "echo": echo,
    "exec": exec_,
    "exit": exit_,
    "export": export,
    "false": false,
    "grep": grep,
    "id": id_,
    "ls": ls,
    "mkdir": mkdir,
    "pwd": pwd,
    "rm": rm,
    "sh": sh,
    "sleep": sleep,
    "touch": touch,
    "true": true,
}
