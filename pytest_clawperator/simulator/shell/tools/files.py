"""Tools that make, change and remove files."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.tools.inputs import absolute, report
from pytest_clawperator.simulator.shell.tools.options import parse_options

_MODE = re.compile(r"([ugoa]*)([-+=])([rwxX]*)\Z")
_SHIFTS = {"u": 6, "g": 3, "o": 0}
_BITS = {"r": 4, "w": 2, "x": 1, "X": 1}


async def rm(invocation: Invocation) -> int:
    """Remove files, and with ``-r`` folders."""
    options = parse_options(invocation.args, flags="fRr")
    if not options.operands and "f" not in options:
        raise CommandFailure('Needs 1 argument (see "rm --help")')
    recursive = bool(options.flags & {"r", "R"})
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
    """Make folders, with ``-p`` those above them too."""
    options = parse_options(invocation.args, flags="p", least=1)
    files = invocation.shell.files
    return await _for_each(
        invocation,
        options.operands,
        lambda operand: files.mkdir(absolute(invocation, operand), parents="p" in options),
    )


async def touch(invocation: Invocation) -> int:
    """Set the time of files to now; make those that are missing."""
    options = parse_options(invocation.args, flags="am", least=1)
    files = invocation.shell.files
    return await _for_each(
        invocation, options.operands, lambda operand: files.touch(absolute(invocation, operand))
    )


async def _for_each(invocation: Invocation, operands: list[str], act: Callable[[str], None]) -> int:
    """Do something with each operand; report those it fails for."""
    status = 0
    for operand in operands:
        try:
            act(operand)
        except FileSystemError as error:
            status = 1
            await invocation.err(f"{invocation.args[0]}: '{operand}': {error.reason}\n")
    return status


async def chmod(invocation: Invocation) -> int:
    """Set permissions, by number or by letters."""
    arguments = [word for word in invocation.args[1:] if word not in ("-R", "-f")]
    if len(arguments) < 2:
        raise CommandFailure('Need 2 arguments (see "chmod --help")')
    files = invocation.shell.files

    def change(operand: str) -> None:
        path = absolute(invocation, operand)
        files.chmod(path, _changed_mode(arguments[0], files.stat(path).mode & 0o7777))

    return await _for_each(invocation, arguments[1:], change)


def _changed_mode(text: str, mode: int) -> int:
    if re.fullmatch(r"[0-7]{1,5}", text):
        return int(text, 8)
    for clause in text.split(","):
        match = _MODE.match(clause)
        if match is None:
            raise CommandFailure(f"bad mode '{text}'")
        who, operator, letters = match.groups()
        groups = set("ugo" if not who or "a" in who else who)
        bits = sum(_BITS[letter] for letter in set(letters.replace("X", "x")))
        mask = sum(bits << _SHIFTS[group] for group in groups)
        if operator == "=":
            mode &= ~sum(7 << _SHIFTS[group] for group in groups)
        mode = mode & ~mask if operator == "-" else mode | mask
    return mode


async def ln(invocation: Invocation) -> int:
    """Make a symbolic link."""
    options = parse_options(invocation.args, flags="sf", least=1)
    if "s" not in options:
        raise CommandFailure("cannot create hard link: Operation not permitted")
    files = invocation.shell.files
    target, *rest = options.operands
    name = target.rstrip("/").rpartition("/")[2]
    path = absolute(invocation, rest[0] if rest else name)
    if files.is_dir(path):
        path = f"{path}/{name}"
    if "f" in options and files.exists(path):
        files.remove(path)
    files.symlink(path, target)
    return 0
