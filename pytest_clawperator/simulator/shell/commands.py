"""The commands of the shell itself, and the small tools of the system image."""

from __future__ import annotations

import asyncio
import re
import stat as modes
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from pytest_clawperator.simulator.files import FileSystemError, Stat
from pytest_clawperator.simulator.shell.runner import evaluate, isolated, run_lines
from pytest_clawperator.simulator.shell.shell import (
    Command,
    CommandFailure,
    Invocation,
    ShellExit,
    ShellFailure,
    execute,
)
from pytest_clawperator.simulator.shell.streams import MAX_TEXT, Bytes, Source, decode

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
    """Make variables visible to commands."""
    shell = invocation.shell
    for argument in invocation.args[1:]:
        name, assigned, value = argument.partition("=")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ShellFailure(f"{name}: is not an identifier")
        if assigned:
            shell.put(name, value)
        shell.export(name)
    return 0


async def cd(invocation: Invocation) -> int:
    """Change the working directory."""
    shell = invocation.shell
    target = invocation.args[1] if len(invocation.args) > 1 else "/"
    path = shell.files.resolve(target, shell.cwd)
    if not shell.files.is_dir(path):
        reason = "Not a directory" if shell.files.exists(path) else "No such file or directory"
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


def _is_true(invocation: Invocation, words: list[str]) -> bool:
    files = invocation.shell.files
    if len(words) < 2:
        return bool(words and words[0])
    if len(words) == 2:
        operator, text = words
        if operator in ("-n", "-z"):
            return bool(text) == (operator == "-n")
        path = files.resolve(text or "/missing", invocation.shell.cwd)
        if operator in ("-e", "-f", "-d"):
            is_folder = files.is_dir(path)
            return files.exists(path) and (operator == "-e" or is_folder == (operator == "-d"))
    if len(words) == 3:
        left, operator, right = words
        if operator in ("=", "!="):
            return (left == right) == (operator == "=")
        if operator in _COMPARISONS:
            return _COMPARISONS[operator](_number(left), _number(right))
    raise CommandFailure(f"{' '.join(words)}: unexpected operator/operand", status=2)


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}


def _number(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text.strip(), re.ASCII):
        raise CommandFailure(f"{text}: bad number", status=2)
    return int(text)


async def sleep(invocation: Invocation) -> int:
    """Wait so many seconds, or until a signal comes."""
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
                script = decode(shell.files.read(_absolute(invocation, arguments[0])))
            except FileSystemError as error:
                raise CommandFailure(f"{arguments[0]}: {error.reason}", status=127) from None
        return await isolated(shell, evaluate(shell, script))


# Tools


@dataclass
class Options:
    """The arguments of a tool: one-letter flags, options with values, and operands."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)

    def __contains__(self, letter: str) -> bool:
        return letter in self.flags or letter in self.values


def parse_options(
    args: Sequence[str], *, flags: str = "", values: str = "", least: int = 0
) -> Options:
    """Parse the arguments of a tool: the letters in ``values`` take a value."""
    name, *waiting = args
    options = Options()
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            options.operands += waiting
            break
        if not word.startswith("-") or len(word) == 1:
            options.operands.append(word)
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in values:
                if not letters and not waiting:
                    raise _failure(name, f"Missing argument to -{letter}")
                options.values.setdefault(letter, []).append(letters or waiting.pop(0))
                break
            if letter not in flags:
                raise _failure(name, f"Unknown option '{word[2:] if letter == '-' else letter}'")
            options.flags.add(letter)
    if len(options.operands) < least:
        raise _failure(name, f"Needs {least} argument{'s' if least > 1 else ''}")
    return options


def _failure(name: str, message: str) -> CommandFailure:
    return CommandFailure(f'{message} (see "{name} --help")')


def _absolute(invocation: Invocation, path: str) -> str:
    if not path:
        raise FileSystemError(path, reason="No such file or directory")
    return path if path.startswith("/") else f"{invocation.shell.cwd}/{path}"


class _Inputs:
    """The files a tool reads, or standard input; missing ones are reported and skipped."""

    def __init__(self, invocation: Invocation, paths: Sequence[str], *, name: str = "") -> None:
        self._invocation = invocation
        self._paths = list(paths) or ["-"]
        self._name = name or invocation.args[0]
        self.status = 0

    async def __aiter__(self) -> AsyncIterator[tuple[str, Source]]:
        for path in self._paths:
            if path == "-":
                yield path, Source.of(self._invocation.stdin)
                continue
            try:
                data = self._invocation.shell.files.read(_absolute(self._invocation, path))
            except FileSystemError as error:
                self.status = 1
                await self._invocation.err(f"{self._name}: {path}: {error.reason}\n")
                continue
            yield path, Source(Bytes(data))


async def cat(invocation: Invocation) -> int:
    """Copy files, or standard input, to standard output."""
    options = parse_options(invocation.args, flags="u")
    # It is part of the shell, and complains in its name.
    inputs = _Inputs(invocation, options.operands, name=f"{invocation.shell.name}: cat")
    async for _, source in inputs:
        while data := await source.read():
            await invocation.stdout.write(data)
    return inputs.status


async def date(invocation: Invocation) -> int:
    """Print the device's date and time, in the format behind ``+`` if one is given."""
    operands = parse_options(invocation.args, flags="u").operands
    form = operands[0] if operands else "+%a %b %e %H:%M:%S GMT %Y"
    if not form.startswith("+"):
        raise CommandFailure("cannot set date: Operation not permitted")
    now = datetime.fromtimestamp(invocation.shell.clock(), timezone.utc)
    form = form[1:].replace("%s", str(int(now.timestamp()))).replace("%N", f"{now:%f}000")
    await invocation.out(f"{now.strftime(form)}\n")
    return 0


async def df(invocation: Invocation) -> int:
    """Print the size of the storage and how much of it is free; all paths are on one volume."""
    options = parse_options(invocation.args, flags="kh")
    files = invocation.shell.files
    size, free = files.capacity_bytes // 1024, files.free_bytes // 1024
    used = size - free
    share = f"{100 * used // size}%"
    await invocation.out(f"{'Filesystem':<17}{'1K-blocks':>10}{'Used':>10}{'Available':>10}")
    await invocation.out(" Use% Mounted on\n")
    for _ in options.operands or ["/data"]:
        await invocation.out(f"{'/dev/block/dm-50':<17}{size:>10}{used:>10}{free:>10}")
        await invocation.out(f"{share:>5} /data\n")
    return 0


async def id_(invocation: Invocation) -> int:
    """Print the shell's user."""
    await invocation.out("uid=2000(shell) gid=2000(shell) context=u:r:shell:s0\n")
    return 0


async def ls(invocation: Invocation) -> int:
    """List files and folders."""
    options = parse_options(invocation.args, flags="1adl")
    files, status = invocation.shell.files, 0
    alone: list[tuple[str, Stat]] = []
    folders: list[tuple[str, str]] = []
    for operand in sorted(options.operands) or ["."]:
        try:
            path = files.resolve(_absolute(invocation, operand))
            found = files.stat(path)
        except FileSystemError as error:
            status = 1
            await invocation.err(f"ls: {operand}: {error.reason}\n")
            continue
        if modes.S_ISDIR(found.mode) and "d" not in options:
            folders.append((operand, path))
        else:
            alone.append((operand, found))
    sections = ["".join(_listed(*entry, options) for entry in alone)] if alone else []
    for operand, path in folders:
        names = [name for name in files.listdir(path) if "a" in options or name[0] != "."]
        title = f"{operand}:\n" if len(options.operands) > 1 else ""
        lines = (_listed(name, files.stat(f"{path}/{name}"), options) for name in names)
        sections.append(title + "".join(lines))
    await invocation.out("\n".join(sections))
    return status


def _listed(name: str, found: Stat, options: Options) -> str:
    if "l" not in options:
        return f"{name}\n"
    moment = datetime.fromtimestamp(found.mtime, timezone.utc)
    mode = modes.filemode(found.mode)
    return f"{mode} 1 shell shell {found.size:>8} {moment:%Y-%m-%d %H:%M} {name}\n"


async def mkdir(invocation: Invocation) -> int:
    """Make folders, with ``-p`` those above them too."""
    options = parse_options(invocation.args, flags="p", least=1)
    for operand in options.operands:
        invocation.shell.files.mkdir(_absolute(invocation, operand), parents="p" in options)
    return 0


async def rm(invocation: Invocation) -> int:
    """Remove files, and with ``-r`` folders."""
    options = parse_options(invocation.args, flags="fRr")
    if not options.operands and "f" not in options:
        raise CommandFailure('Needs 1 argument (see "rm --help")')
    recursive = bool(options.flags & {"r", "R"})
    status = 0
    for operand in options.operands:
        try:
            invocation.shell.files.remove(_absolute(invocation, operand), recursive=recursive)
        except FileSystemError as error:
            if "f" not in options or error.reason != "No such file or directory":
                status = 1
                await invocation.err(f"rm: {operand}: {error.reason}\n")
    return status


async def touch(invocation: Invocation) -> int:
    """Set the time of files to now; make those that are missing."""
    for operand in parse_options(invocation.args, least=1).operands:
        invocation.shell.files.touch(_absolute(invocation, operand))
    return 0


# grep

_LINES_PER_TURN = 64

_MAX_PATTERN = 200

# Python tries every way in which a pattern could match. Each repetition multiplies their number
# by the length of the line, and each other choice doubles it, so both are few. The gaps between
# the pieces of a pattern do not count: the pieces are searched for one after the other.
_MAX_REPETITIONS, _MAX_CHOICES = 2, 6

_LONGEST_LINE = (MAX_TEXT, 10_000, 1_000)  # by the number of repetitions

_TOKEN = re.compile(r"\[\^?\]?(?:\[:[a-z]*:\]|[^\]])*\]|\\?.", re.DOTALL)

_CLASSES = {
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:space:]": r"\s",
    "[:upper:]": "A-Z",
}


async def grep(invocation: Invocation) -> int:
    """Print the lines that match; return 0 if there were any, 1 if none, 2 after an error."""
    options = parse_options(invocation.args, flags="EFcinqv", values="e")
    operands = list(options.operands)
    if "e" not in options:
        if not operands:
            raise CommandFailure("no REGEX", status=2)
        options.values["e"] = [operands.pop(0)]
    patterns = [
        _compiled(line, options) for text in options.values["e"] for line in text.split("\n")
    ]
    count = 0
    inputs = _Inputs(invocation, operands)
    async for name, source in inputs:
        prefix = f"{name}:" if len(operands) > 1 else ""
        found = 0
        async for number, line in _lines(source):
            if any(matches(line) for matches in patterns) == ("v" in options):
                continue
            found += 1
            if "q" in options:
                return 0
            if "c" not in options:
                numbered = f"{number}:" if "n" in options else ""
                await invocation.out(f"{prefix}{numbered}{line}\n")
        if "c" in options:
            await invocation.out(f"{prefix}{found}\n")
        count += found
    return 2 if inputs.status else int(not count)


async def _lines(source: Source) -> AsyncIterator[tuple[int, str]]:
    number = 0
    while raw := await source.read_line():
        number += 1
        if number % _LINES_PER_TURN == 0:
            await asyncio.sleep(0)
        yield number, decode(raw.removesuffix(b"\n"))


def _compiled(text: str, options: Options) -> Callable[[str], bool]:
    """Return the function that decides whether a line matches."""
    flags = re.ASCII | (re.IGNORECASE if "i" in options else re.RegexFlag(0))
    if "F" in options:
        fixed = re.compile(re.escape(text), flags)
        return lambda line: fixed.search(line) is not None
    try:
        if len(text) > _MAX_PATTERN:
            raise ValueError("too long for the simulated grep")
        alternatives = [
            [_Piece(signs, flags) for signs in pieces]
            for pieces in _pieces(_signs(text, is_extended="E" in options))
        ]
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise CommandFailure(f"bad regex '{text[:100]}': {error}", status=2) from None
    return lambda line: any(_fits(pieces, line) for pieces in alternatives)


def _signs(text: str, *, is_extended: bool) -> list[str]:
    """Return the characters, sets and operators of an expression, as Python writes them."""
    tokens: list[str] = _TOKEN.findall(text)
    signs: list[str] = []
    for number, token in enumerate(tokens):
        sign = token
        if not is_extended and token.lstrip("\\")[:1] in tuple("(){}|+?"):
            sign = token[1:] if token[0] == "\\" else f"\\{token}"
        begins = not signs or signs[-1] in ("(", "|", "^")
        ends = number == len(tokens) - 1 or tokens[number + 1] in ("\\)", "\\|")
        if not is_extended and (
            (sign == "*" and begins)
            or (sign == "^" and (not begins or signs[-1:] == ["^"]))
            or (sign == "$" and not ends)
        ):
            sign = f"\\{sign}"
        if sign.startswith("["):
            sign = _translated_set(sign)
        signs.append({"\\<": r"\b", "\\>": r"\b"}.get(sign, sign))
    return signs


def _pieces(signs: list[str]) -> list[list[list[str]]]:
    """Split an expression at its outermost ``|``, and each alternative at its ``.*``."""
    found: list[list[list[str]]] = [[[]]]
    depth = 0
    for before, sign in zip(["", *signs], signs, strict=False):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0 and sign == "|":
            found.append([[]])
        elif depth == 0 and before + sign == ".*":
            found[-1][-1].pop()
            found[-1].append([])
        else:
            found[-1][-1].append(sign)
    return found


class _Piece:
    """A part of an expression that is cheap to search for, whatever the line is."""

    def __init__(self, signs: list[str], flags: re.RegexFlag) -> None:
        repetitions = choices = 0
        for before, sign in zip(["", *signs], signs, strict=False):
            repetitions += sign in ("*", "+", "{")
            choices += sign in ("?", "|")
            if re.fullmatch(r"\\[1-9]", sign) or (before == ")" and sign in ("*", "+", "{", "?")):
                raise ValueError(f"{before}{sign} is not supported by the simulated grep")
            if before in ("", "(", "|") and sign in ("*", "+", "?"):
                raise ValueError(f"nothing to repeat before {sign}")
        if repetitions > _MAX_REPETITIONS or choices > _MAX_CHOICES:
            raise ValueError("too many repetitions for the simulated grep")
        # As short as possible, so that the next piece finds all that is left for it.
        lazy = (f"{sign}?" if sign in ("*", "+", "?") else sign for sign in signs)
        self._pattern = re.compile("".join(lazy), flags)
        self._longest = _LONGEST_LINE[repetitions]

    def end(self, line: str, start: int) -> int:
        """Return where the first match behind ``start`` ends; -1 if there is none."""
        match = self._pattern.search(line, start, start + self._longest)
        return -1 if match is None else match.end()


def _fits(pieces: Sequence[_Piece], line: str) -> bool:
    """Whether all pieces are in the line, each behind the one before."""
    end = 0
    for piece in pieces:
        end = piece.end(line, end)
        if end < 0:
            return False
    return True


def _translated_set(text: str) -> str:
    """Translate a set in brackets, in which a backslash is a character like any other."""
    text = text.replace("\\", r"\\")
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    start = 2 if text.startswith("[^") else 1
    return text[:start] + text[start:-1].replace("[", r"\[").replace("]", r"\]") + "]"


BUILTINS: dict[str, Command] = {
    "[": bracket,
    "cat": cat,
    "cd": cd,
    "echo": echo,
    "exec": exec_,
    "exit": exit_,
    "export": export,
    "false": false,
    "pwd": pwd,
    "sleep": sleep,
    "true": true,
}

"""Commands that run in the shell's own process."""


TOOLS: dict[str, Command] = {
    "date": date,
    "df": df,
    "grep": grep,
    "id": id_,
    "ls": ls,
    "mkdir": mkdir,
    "rm": rm,
    "sh": sh,
    "touch": touch,
}

SHELL_COMMANDS: dict[str, Command] = {**BUILTINS, **TOOLS}
