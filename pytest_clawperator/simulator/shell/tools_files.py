"""Tools that make, move and remove files."""

from __future__ import annotations

import re
import stat as modes
from collections.abc import AsyncIterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.patterns import Pattern
from pytest_clawperator.simulator.shell.signals import CommandFailure
from pytest_clawperator.simulator.shell.tool_options import (
    absolute,
    parse_options,
    report,
    whole_number,
)

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation

_MAX_DEPTH = 100
_MODE = re.compile(r"([ugoa]*)([-+=])([rwxXst]*)\Z")


async def rm(invocation: Invocation) -> int:
    """Remove files, and with ``-r`` folders."""
    options = parse_options(invocation.args, flags="fiRrv")
    if not options.operands and "f" not in options:
        raise CommandFailure('Needs 1 argument (see "rm --help")')
    recursive = "r" in options or "R" in options
    status = 0
    for operand in options.operands:
        try:
            invocation.shell.files.remove(absolute(invocation, operand), recursive=recursive)
        except FileSystemError as error:
            if "f" not in options or error.reason != "No such file or directory":
                status = 1
                await report(invocation, operand, error)
    return status


async def mkdir(invocation: Invocation) -> int:
    """Make folders."""
    options = parse_options(
        invocation.args, flags="pv", values="m", long={"parents": "p", "mode": "m"}, least=1
    )
    status = 0
    for operand in options.operands:
        try:
            invocation.shell.files.mkdir(absolute(invocation, operand), parents="p" in options)
            if "v" in options:
                await invocation.out(f"mkdir: created directory '{operand}'\n")
        except FileSystemError as error:
            status = 1
            await invocation.err(f"mkdir: '{operand}': {error.reason}\n")
    return status


async def rmdir(invocation: Invocation) -> int:
    """Remove empty folders."""
    options = parse_options(invocation.args, flags="p", least=1)
    status = 0
    for operand in options.operands:
        path = operand.rstrip("/") or operand
        try:
            while path and path != "/":
                invocation.shell.files.rmdir(absolute(invocation, path))
                path = path.rpartition("/")[0] if "p" in options else ""
        except FileSystemError as error:
            status = 1
            await report(invocation, operand, error)
    return status


async def touch(invocation: Invocation) -> int:
    """Set the time of files, making those that are missing."""
    options = parse_options(invocation.args, flags="acmh", values="dtr", least=1)
    files = invocation.shell.files
    mtime: int | None = None
    if "d" in options or "t" in options:
        mtime = _moment(options.text("d") or options.text("t"))
    elif "r" in options:
        mtime = files.stat(absolute(invocation, options.text("r"))).mtime
    status = 0
    for operand in options.operands:
        try:
            path = absolute(invocation, operand)
            if "c" not in options or files.exists(path):
                files.touch(path, mtime=mtime)
        except FileSystemError as error:
            status = 1
            await invocation.err(f"touch: '{operand}': {error.reason}\n")
    return status


def _moment(text: str) -> int:
    """Read a date as ``touch`` takes it."""
    if text.startswith("@"):
        return whole_number(text[1:])
    for form in ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"):
        try:
            return int(datetime.strptime(text, form).replace(tzinfo=timezone.utc).timestamp())
        except ValueError:
            continue
    for form in ("%Y%m%d%H%M.%S", "%Y%m%d%H%M"):
        try:
            return int(datetime.strptime(text, form).replace(tzinfo=timezone.utc).timestamp())
        except ValueError:
            continue
    raise CommandFailure(f"bad date {text}")


async def cp(invocation: Invocation) -> int:
    """Copy files, and with ``-r`` folders."""
    options = parse_options(invocation.args, flags="RHLPadfilnprsvx")
    recursive = bool(options.flags & {"r", "R", "a"})
    status = 0
    async for source, target in _pairs(invocation, options.operands):
        try:
            await _copy(invocation, source, target, recursive=recursive)
            if "v" in options:
                await invocation.out(f"cp '{source}'\n")
        except FileSystemError as error:
            status = 1
            await invocation.err(f"cp: {error.path}: {error.reason}\n")
        except CommandFailure as failure:
            status = 1
            await invocation.err(f"cp: {failure.message}\n")
    return status


async def _pairs(invocation: Invocation, operands: list[str]) -> AsyncIterator[tuple[str, str]]:
    """Give what goes where: several files, or one, go into a folder that is there."""
    if len(operands) < 2:
        raise CommandFailure("Needs 2 arguments")
    *sources, target = operands
    into = invocation.shell.files.is_dir(absolute(invocation, target))
    if len(sources) > 1 and not into:
        raise CommandFailure(f"'{target}' not directory")
    for source in sources:
        name = source.rstrip("/").rpartition("/")[2]
        yield source, f"{target.rstrip('/')}/{name}" if into else target


async def _copy(invocation: Invocation, source: str, target: str, *, recursive: bool) -> None:
    files = invocation.shell.files
    waiting = [(absolute(invocation, source), absolute(invocation, target), 0)]
    while waiting:
        old, new, depth = waiting.pop()
        try:
            found = files.stat(old)
        except FileSystemError as error:
            raise CommandFailure(f"bad '{source}': {error.reason}") from None
        if not modes.S_ISDIR(found.mode):
            files.write(new, files.read(old), mode=found.mode & 0o7777)
            continue
        if not recursive:
            raise CommandFailure(f"Skipped dir '{source}'")
        if f"{files.resolve(new)}/".startswith(f"{files.resolve(old)}/") or depth > _MAX_DEPTH:
            raise CommandFailure(f"'{source}' into itself")
        if not files.is_dir(new):
            files.mkdir(new)
        waiting += [(f"{old}/{name}", f"{new}/{name}", depth + 1) for name in files.listdir(old)]


async def mv(invocation: Invocation) -> int:
    """Move or rename files and folders."""
    options = parse_options(invocation.args, flags="finv")
    files = invocation.shell.files
    status = 0
    async for source, target in _pairs(invocation, options.operands):
        try:
            if "n" in options and files.exists(absolute(invocation, target)):
                continue
            files.rename(absolute(invocation, source), absolute(invocation, target))
        except FileSystemError as error:
            status = 1
            await invocation.err(f"mv: bad '{source}': {error.reason}\n")
    return status


async def chmod(invocation: Invocation) -> int:
    """Set permissions, by number or by letters."""
    arguments = [word for word in invocation.args[1:] if word not in ("-R", "-f", "-v")]
    if len(arguments) < 2:
        raise CommandFailure('Need 2 arguments (see "chmod --help")')
    files = invocation.shell.files
    status = 0
    for operand in arguments[1:]:
        try:
            path = absolute(invocation, operand)
            files.chmod(path, _changed_mode(arguments[0], files.stat(path).mode & 0o7777))
        except FileSystemError as error:
            status = 1
            await report(invocation, operand, error)
    return status


def _changed_mode(text: str, mode: int) -> int:
    if re.fullmatch(r"[0-7]{1,5}", text):
        return int(text, 8)
    for clause in text.split(","):
        match = _MODE.match(clause)
        if match is None:
            raise CommandFailure(f"bad mode '{text}'")
        who, operator, letters = match.groups()
        bits = sum({"r": 4, "w": 2, "x": 1, "X": 1}.get(letter, 0) for letter in set(letters))
        groups = "ugo" if not who or "a" in who else who
        mask = sum(bits << {"u": 6, "g": 3, "o": 0}[group] for group in set(groups))
        everything = sum(7 << {"u": 6, "g": 3, "o": 0}[group] for group in set(groups))
        if operator == "=":
            mode = mode & ~everything | mask
        else:
            mode = mode | mask if operator == "+" else mode & ~mask
    return mode


async def ln(invocation: Invocation) -> int:
    """Make a link."""
    options = parse_options(invocation.args, flags="sfnvT", least=1)
    if "s" not in options:
        raise CommandFailure("cannot create hard link: Operation not permitted")
    files = invocation.shell.files
    target, *rest = options.operands
    name = target.rstrip("/").rpartition("/")[2]
    path = absolute(invocation, rest[0] if rest else name)
    if files.is_dir(path) and "T" not in options:
        path = f"{path}/{name}"
    if "f" in options and files.exists(path):
        files.remove(path)
    files.symlink(path, target)
    return 0


async def readlink(invocation: Invocation) -> int:
    """Say where a link leads."""
    options = parse_options(invocation.args, flags="efmnq", least=1)
    files = invocation.shell.files
    status = 0
    for operand in options.operands:
        try:
            path = absolute(invocation, operand)
            found = files.resolve(path) if options.flags & set("efm") else files.readlink(path)
            await invocation.out(found + ("" if "n" in options else "\n"))
        except FileSystemError:
            status = 1
    return status


async def realpath(invocation: Invocation) -> int:
    """Print paths without links."""
    for operand in parse_options(invocation.args, least=1).operands:
        await invocation.out(invocation.shell.files.resolve(absolute(invocation, operand)) + "\n")
    return 0


async def basename(invocation: Invocation) -> int:
    """Print the last part of paths."""
    options = parse_options(invocation.args, flags="a", values="s", least=1)
    names, suffix = options.operands, options.text("s")
    if not {"a", "s"} & {*options.flags, *options.values}:
        names, suffix = names[:1], (names[1:] or [""])[0]
    for name in names:
        base = name.rstrip("/").rpartition("/")[2] or name[:1]
        if suffix and base.endswith(suffix) and base != suffix:
            base = base[: -len(suffix)]
        await invocation.out(base + "\n")
    return 0


async def dirname(invocation: Invocation) -> int:
    """Print what stands in front of the last part of paths."""
    for path in parse_options(invocation.args, least=1).operands:
        folder = path.rstrip("/").rpartition("/")[0].rstrip("/")
        await invocation.out((folder or ("/" if path.startswith("/") else ".")) + "\n")
    return 0


async def find(invocation: Invocation) -> int:
    """List what is below folders, chosen by name and kind."""
    words = invocation.args[1:]
    count = next((n for n, word in enumerate(words) if word[:1] in ("-", "!", "(")), len(words))
    paths, tests = words[:count] or ["."], words[count:]
    wanted = _FindTests(tests)
    files = invocation.shell.files
    status = 0
    waiting = [(path, 0) for path in reversed(paths)]
    while waiting:
        path, depth = waiting.pop()
        try:
            found = files.lstat(absolute(invocation, path))
        except FileSystemError as error:
            status = 1
            await invocation.err(f"find: '{path}': {error.reason}\n")
            continue
        if depth >= wanted.least and wanted.fit(path, found.mode):
            await invocation.out(path + "\n")
        if modes.S_ISDIR(found.mode) and depth < wanted.most:
            names = files.listdir(absolute(invocation, path))
            waiting += [(f"{path.rstrip('/')}/{name}", depth + 1) for name in reversed(names)]
    return status


class _FindTests:
    """The tests of ``find`` that all must hold."""

    def __init__(self, words: list[str]) -> None:
        self.least, self.most = 0, _MAX_DEPTH
        self._name: Pattern | None = None
        self._kind = ""
        waiting = list(words)
        while waiting:
            word = waiting.pop(0)
            if word == "-print":
                continue
            if word not in ("-name", "-type", "-maxdepth", "-mindepth") or not waiting:
                raise CommandFailure(f"bad arg '{word}'")
            value = waiting.pop(0)
            if word == "-name":
                self._name = Pattern([(value, False)])
            elif word == "-type":
                self._kind = value
            elif word == "-maxdepth":
                self.most = min(_MAX_DEPTH, whole_number(value))
            else:
                self.least = whole_number(value)

    def fit(self, path: str, mode: int) -> bool:
        """Tell whether a file is one of those wanted."""
        name = path.rstrip("/").rpartition("/")[2]
        if self._name is not None and not self._name.matches(name):
            return False
        return not self._kind or modes.filemode(mode)[0] == {"f": "-"}.get(self._kind, self._kind)
