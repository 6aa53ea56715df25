"""Commands that are part of the shell, because they read or change its state."""

from __future__ import annotations

import re

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.encoding import decode
from pytest_clawperator.simulator.shell.exits import (
    LoopExit,
    ShellExit,
    ShellFailure,
    TextTooLong,
)
from pytest_clawperator.simulator.shell.language.splitting import BLANKS, split_line
from pytest_clawperator.simulator.shell.lookup import describe_command
from pytest_clawperator.simulator.shell.runner import execute
from pytest_clawperator.simulator.shell.shell import AT_EXIT, Invocation, Shell
from pytest_clawperator.simulator.shell.signals import NAMES, signal_number
from pytest_clawperator.simulator.shell.streams import MAX_TEXT, Source

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_CONTINUED = re.compile(rb"(?<!\\)(?:\\\\)*\\\n\Z")


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


async def break_(invocation: Invocation) -> int:
    """Leave the innermost loop, or continue with its next round."""
    name, *levels = invocation.args
    if levels not in ([], ["1"]):
        raise ShellFailure(f"{name}: several levels are not supported by the simulated shell")
    if not invocation.shell.loops:
        await invocation.shell.complain(f"{name}: can't {name}")
        return 0
    raise LoopExit(again=name == "continue")


async def exec_(invocation: Invocation) -> int:
    """Replace the shell: run a command, then end."""
    with invocation.shell.deeper():
        raise ShellExit(await execute(invocation.shell, invocation.args[1:]))


async def command(invocation: Invocation) -> int:
    """Run a command, or with ``-v`` print where it is found."""
    arguments = invocation.args[1:]
    if arguments[:1] != ["-v"]:
        with invocation.shell.deeper():
            return await execute(invocation.shell, arguments) if arguments else 0
    status = 0
    for name in arguments[1:]:
        found = describe_command(invocation.shell, name)
        status = status or int(found is None)
        if found is not None:
            await invocation.out(f"{found}\n")
    return status


async def wait(invocation: Invocation) -> int:
    """Wait for background jobs, all or those with the given process ids."""
    children = invocation.shell.children
    if len(invocation.args) == 1:
        for job in list(children.values()):
            await job.status()
        children.clear()
        return 0
    status = 127
    for word in invocation.args[1:]:
        pid = int(word) if re.fullmatch(r"[0-9]{1,9}", word, re.ASCII) else 0
        child = children.pop(pid, None)
        status = await child.status() if child else 127
    return status


async def cd(invocation: Invocation) -> int:
    """Change the working directory."""
    shell, arguments = invocation.shell, invocation.args[1:]
    target = arguments[0] if arguments else shell.get("HOME") or "/"
    path = _joined(target, shell.cwd)
    try:
        if not shell.files.is_dir(path):
            shell.files.stat(path)
            raise FileSystemError(path, reason="Not a directory")
    except FileSystemError as error:
        await shell.complain(f"cd: {path}: {error.reason}")
        return 2
    shell.cwd = path
    return 0


def _joined(path: str, cwd: str) -> str:
    """Join a path to the working directory without following links, as the shell remembers it."""
    names: list[str] = []
    for name in (path if path.startswith("/") else f"{cwd}/{path}").split("/"):
        if name == "..":
            names = names[:-1]
        elif name not in ("", "."):
            names.append(name)
    return "/" + "/".join(names)


async def pwd(invocation: Invocation) -> int:
    """Print the working directory."""
    await invocation.out(f"{invocation.shell.cwd}\n")
    return 0


async def export(invocation: Invocation) -> int:
    """Make variables visible to commands, or list the visible ones."""
    shell, arguments = invocation.shell, invocation.args[1:]
    if not arguments:
        await invocation.out("".join(f"{name}\n" for name in sorted(shell.env)))
    for argument in arguments:
        name, assigned, value = argument.partition("=")
        _set(shell, name, value if assigned else shell.get(name) or "")
        shell.export(name)
    return 0


async def set_(invocation: Invocation) -> int:
    """Let the script stop at the first failing command with ``-e``, or with ``+e`` no more."""
    for option in invocation.args[1:] or ["without options"]:
        if option not in ("-e", "+e"):
            raise ShellFailure(f"set: {option} is not supported by the simulated shell")
        invocation.shell.stops_at_failure = option == "-e"
    return 0


async def trap(invocation: Invocation) -> int:
    """Note what runs when a signal comes, or at the end; a script ends with its trap."""
    traps, arguments = invocation.shell.traps, invocation.args[1:]
    if not arguments:
        names = {AT_EXIT: "EXIT", **dict(enumerate(NAMES, start=1))}
        lines = (f"trap -- '{script}' {names[number]}\n" for number, script in traps.items())
        await invocation.out("".join(lines))
        return 0
    script, *words = arguments
    for word in words:
        number = AT_EXIT if word in ("EXIT", "0") else signal_number(word)
        if number is None or number > len(NAMES):
            raise ShellFailure(f"trap: bad signal '{word}'")
        if script == "-":
            traps.pop(number, None)
        else:
            traps[number] = script
    return 0


async def read(invocation: Invocation) -> int:
    """Read a line into variables; fail at the end of the input.

    Words are separated by the characters of ``IFS``, and the last variable takes the rest of
    the line. Without ``-r``, a backslash takes the next character as it is.
    """
    raw = "-r" in invocation.args
    names = [word for word in invocation.args[1:] if word != "-r"] or ["REPLY"]
    source = Source.of(invocation.stdin)
    data = more = await source.read_line()
    while not raw and more and _CONTINUED.search(data):
        more = await source.read_line()
        data = data[:-2] + more
        if len(data) > MAX_TEXT:
            raise TextTooLong
    line = decode(data.replace(b"\0", b""))
    separators = invocation.shell.get("IFS")
    words = split_line(
        line.removesuffix("\n"),
        BLANKS if separators is None else separators,
        count=len(names),
        raw=raw,
    )
    for name, word in zip(names, words, strict=True):
        _set(invocation.shell, name, word)
    return int(not line.endswith("\n"))


def _set(shell: Shell, name: str, value: str) -> None:
    if not _IDENTIFIER.match(name):
        raise ShellFailure(f"{name}: is not an identifier")
    shell.assign(name, value)
