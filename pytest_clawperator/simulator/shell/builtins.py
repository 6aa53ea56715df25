"""The commands that are part of the shell, because they change or question its state."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.arithmetic import CalculationError, evaluate
from pytest_clawperator.simulator.shell.conditions import answer_test
from pytest_clawperator.simulator.shell.escapes import decode, decode_echo, quoted
from pytest_clawperator.simulator.shell.expansion import ShellFailure
from pytest_clawperator.simulator.shell.parser import RESERVED_WORDS
from pytest_clawperator.simulator.shell.read import read
from pytest_clawperator.simulator.shell.signals import (
    FunctionReturn,
    LoopExit,
    ShellExit,
)

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation, Shell

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ECHO_OPTION = re.compile(r"-[neE]+\Z")
_SET_OPTIONS = {
    "errexit": "e",
    "noglob": "f",
    "nounset": "u",
    "xtrace": "x",
    "pipefail": "pipefail",
}


async def _complain(invocation: Invocation, message: str, *, status: int = 1) -> int:
    await invocation.shell.complain(f"{invocation.args[0]}: {message}")
    return status


def _number(text: str) -> int | None:
    return int(text[:12]) if re.fullmatch(r"[+-]?[0-9]+", text) else None


async def true(invocation: Invocation) -> int:
    """Succeed."""
    return 0


async def false(invocation: Invocation) -> int:
    """Fail."""
    return 1


async def echo(invocation: Invocation) -> int:
    """Print the arguments; unlike other shells', it reads backslash escapes by default."""
    arguments = invocation.args[1:]
    newline, escapes = True, True
    while arguments and _ECHO_OPTION.match(arguments[0]):
        option = arguments.pop(0)
        newline = newline and "n" not in option
        escapes = option.rfind("e") >= option.rfind("E") if option.strip("-n") else escapes
    text = " ".join(arguments)
    if escapes:
        text, stopped = decode_echo(text)
        newline = newline and not stopped
    try:
        await invocation.out(text + "\n" if newline else text)
    except FileSystemError:  # it fails without a word
        return 1
    return 0


async def cd(invocation: Invocation) -> int:
    """Change the folder."""
    shell, arguments = invocation.shell, [arg for arg in invocation.args[1:] if arg not in _CD]
    if len(arguments) > 1:
        return await _complain(invocation, "bad substitution", status=2)
    target = arguments[0] if arguments else shell.get("HOME") or ""
    if target == "-":
        target = shell.get("OLDPWD") or ""
        if not target:
            return await _complain(invocation, "no OLDPWD", status=2)
    try:
        path = _logical(target, shell.cwd)
        if not shell.files.is_dir(path):
            shell.files.stat(path)
            return await _complain(invocation, f"{path}: Not a directory", status=2)
    except FileSystemError as error:
        return await _complain(invocation, f"{path}: {error.reason}", status=2)
    shell.env["OLDPWD"] = shell.cwd
    shell.cwd = path
    shell.env["PWD"] = path
    if arguments == ["-"]:
        await invocation.out(path + "\n")
    return 0


_CD = ("--", "-L", "-P")


def _logical(path: str, cwd: str) -> str:
    """Join a path to the folder without following links, as the shell remembers it."""
    names: list[str] = []
    for name in (path if path.startswith("/") else f"{cwd}/{path}").split("/"):
        if name == "..":
            names = names[:-1]
        elif name not in ("", "."):
            names.append(name)
    return "/" + "/".join(names)


async def pwd(invocation: Invocation) -> int:
    """Print the folder."""
    shell = invocation.shell
    physical = "-P" in invocation.args
    await invocation.out((shell.files.resolve(shell.cwd) if physical else shell.cwd) + "\n")
    return 0


async def export(invocation: Invocation) -> int:
    """Let commands see variables, or list those they see."""
    shell, arguments = invocation.shell, invocation.args[1:]
    if not arguments or arguments == ["-p"]:
        names = sorted(shell.env)
        for name in names:
            value = f"export {name}={quoted(shell.env[name])}" if arguments else name
            await invocation.out(value + "\n")
        return 0
    for argument in arguments:
        name = _declare(invocation, argument)
        shell.export(name)
    return 0


async def readonly(invocation: Invocation) -> int:
    """Let variables never change again, or list those that cannot."""
    shell, arguments = invocation.shell, invocation.args[1:]
    if not arguments or arguments == ["-p"]:
        for name in sorted(shell.readonly):
            await invocation.out(f"readonly {name}={quoted(shell.get(name) or '')}\n")
    for argument in arguments:
        if argument != "-p":
            shell.readonly.add(_declare(invocation, argument))
    return 0


async def local(invocation: Invocation) -> int:
    """Make variables that live as long as the function does."""
    shell = invocation.shell
    for argument in invocation.args[1:]:
        name = argument.partition("=")[0].rstrip("+")
        if shell.locals and name not in shell.locals[-1] and _IDENTIFIER.match(name):
            shell.locals[-1][name] = (shell.get(name), name in shell.env)
        _declare(invocation, argument)
    return 0


def _declare(invocation: Invocation, argument: str) -> str:
    """Set a variable from ``name=value`` if there is a value, and give its name."""
    shell = invocation.shell
    name, assigned, value = argument.partition("=")
    if name.endswith("+") and assigned:
        name = name[:-1]
        value = (shell.get(name) or "") + value
    if not _IDENTIFIER.match(name):
        raise ShellFailure(f"{invocation.args[0]}: {argument}: is not an identifier")
    if assigned:
        shell.put(name, value)
    return name


async def unset(invocation: Invocation) -> int:
    """Forget variables or functions."""
    arguments = invocation.args[1:]
    functions = arguments[:1] == ["-f"]
    for name in arguments[arguments[:1] in (["-f"], ["-v"]) :]:
        if functions:
            invocation.shell.functions.pop(name, None)
        else:
            invocation.shell.unset(name)
    return 0


async def shift(invocation: Invocation) -> int:
    """Drop positional parameters from the front."""
    shell = invocation.shell
    count = _number(invocation.args[1]) if len(invocation.args) > 1 else 1
    if count is None or count < 0:
        raise ShellFailure(f"shift: bad number: {invocation.args[1]}")
    if count > len(shell.positional):
        raise ShellFailure("shift: nothing to shift")
    del shell.positional[:count]
    return 0


async def set_(invocation: Invocation) -> int:
    """Set options and positional parameters, or list the variables."""
    shell, arguments = invocation.shell, invocation.args[1:]
    if not arguments:
        for name in sorted({*shell.env, *shell.variables}):
            await invocation.out(f"{name}={quoted(shell.get(name) or '')}\n")
        return 0
    while arguments and len(arguments[0]) > 1 and arguments[0][0] in "-+":
        word = arguments.pop(0)
        if word == "--":
            shell.positional = arguments
            return 0
        letters = list(word[1:])
        if "o" in letters and arguments:
            letters[letters.index("o")] = _SET_OPTIONS.get(arguments[0], arguments[0])
            arguments.pop(0)
        for letter in letters:
            if letter not in _SET_OPTIONS.values():
                raise ShellFailure(f"set: {word[0]}{letter}: unknown option")
            (shell.options.add if word[0] == "-" else shell.options.discard)(letter)
    if arguments == ["-"]:
        shell.options.discard("x")
    elif arguments:
        shell.positional = arguments
    return 0


async def exit_(invocation: Invocation) -> int:
    """End the shell."""
    raise ShellExit(_status_argument(invocation))


async def return_(invocation: Invocation) -> int:
    """End the function or the sourced file."""
    invocation.shell.status = _status_argument(invocation)
    raise FunctionReturn


def _status_argument(invocation: Invocation) -> int:
    if len(invocation.args) < 2:
        return invocation.shell.status
    status = _number(invocation.args[1])
    if status is None:
        raise ShellFailure(f"{invocation.args[0]}: bad number: {invocation.args[1]}")
    return status & 0xFF


async def break_(invocation: Invocation) -> int:
    """Leave loops, or go on with their next round."""
    name = invocation.args[0]
    levels = _number(invocation.args[1]) if len(invocation.args) > 1 else 1
    if levels is None or levels < 1:
        raise ShellFailure(f"{name}: {invocation.args[1]}: bad value")
    if not invocation.shell.loops:
        await _complain(invocation, f"can't {name}")
        return 0
    if levels > invocation.shell.loops:
        await _complain(invocation, f"can only {name} {invocation.shell.loops} level(s)")
    raise LoopExit(levels, again=name == "continue")


async def eval_(invocation: Invocation) -> int:
    """Run the arguments as a script."""
    return await invocation.shell.evaluate(" ".join(invocation.args[1:]))


async def source(invocation: Invocation) -> int:
    """Run a file in this shell."""
    name, *arguments = invocation.args
    shell = invocation.shell
    if not arguments:
        raise ShellFailure(f"{name}: missing argument")
    try:
        script = decode(shell.files.read(shell.files.resolve(arguments[0], shell.cwd)))
    except FileSystemError as error:
        raise ShellFailure(f"{name}: {arguments[0]}: {error.reason}") from None
    saved, place = shell.positional, shell.place
    shell.positional = arguments[1:] or saved
    with suppress(FunctionReturn):
        await shell.evaluate(script, file=arguments[0])
    shell.place = place
    if arguments[1:]:
        shell.positional = saved
    return shell.status


async def exec_(invocation: Invocation) -> int:
    """Become a command: run it, then end."""
    raise ShellExit(await invocation.shell.execute(invocation.args[1:]))


async def let(invocation: Invocation) -> int:
    """Calculate; the status tells whether the last result is 0."""
    shell = invocation.shell
    value = 0
    for expression in invocation.args[1:]:
        try:
            value = evaluate(expression, get=shell.get, put=shell.put)
        except CalculationError as problem:
            raise ShellFailure(str(problem)) from None
    return int(value == 0)


async def trap(invocation: Invocation) -> int:
    """Say what to do at the exit; signals never come, so nothing happens for them."""
    shell, arguments = invocation.shell, invocation.args[1:]
    arguments = arguments[arguments[:1] == ["--"] :]
    if not arguments:
        if shell.exit_trap is not None:
            await invocation.out(f"trap -- {quoted(shell.exit_trap)} EXIT\n")
        return 0
    action: str | None = None if len(arguments) == 1 else arguments.pop(0)
    if {"EXIT", "0"} & set(arguments):
        shell.exit_trap = None if action == "-" else action
    return 0


async def wait(invocation: Invocation) -> int:
    """Wait for background jobs."""
    shell = invocation.shell
    if len(invocation.args) == 1:
        for job in list(shell.children.values()):
            await job.status()
        shell.children.clear()
        return 0
    status = 127
    for word in invocation.args[1:]:
        pid = _number(word)
        child = shell.children.pop(pid, None) if pid is not None else None
        status = await child.status() if child else 127
    return status


async def command(invocation: Invocation) -> int:
    """Run a command even if a function has its name, or say what a name means."""
    shell, arguments = invocation.shell, invocation.args[1:]
    while arguments[:1] in (["-p"], ["--"]):
        arguments.pop(0)
    if arguments[:1] == ["-v"]:
        return await _whence(invocation, arguments[1:], verbose=False)
    if arguments[:1] == ["-V"]:
        return await _whence(invocation, arguments[1:], verbose=True)
    return await shell.execute(arguments) if arguments else 0


async def type_(invocation: Invocation) -> int:
    """Say what names mean."""
    return await _whence(invocation, invocation.args[1:], verbose=True)


async def whence(invocation: Invocation) -> int:
    """Say where commands are."""
    arguments = invocation.args[1:]
    verbose = arguments[:1] == ["-v"]
    return await _whence(invocation, arguments[verbose:], verbose=verbose)


async def _whence(invocation: Invocation, names: list[str], *, verbose: bool) -> int:
    status = 0
    for name in names:
        short, long = _meaning(invocation.shell, name)
        status = status or int(not short)
        if verbose:
            await invocation.out(f"{name} {long}\n")
        elif short:
            await invocation.out(f"{short}\n")
    return status


def _meaning(shell: Shell, name: str) -> tuple[str, str]:
    if name in RESERVED_WORDS:
        return name, "is a reserved word"
    if name in shell.functions:
        return name, "is a function"
    found = shell.find(name)
    if found is None:
        return "", "not found"
    if found == name and "/" not in name:
        special = "special " if name in SPECIAL_NAMES else ""
        return name, f"is a {special}shell builtin"
    return found, f"is {found}" if "/" in name else f"is a tracked alias for {found}"


BUILTINS: dict[str, Callable[[Invocation], Awaitable[int]]] = {
    ".": source,
    ":": true,
    "[": answer_test,
    "break": break_,
    "builtin": command,
    "cd": cd,
    "command": command,
    "continue": break_,
    "echo": echo,
    "eval": eval_,
    "exec": exec_,
    "exit": exit_,
    "export": export,
    "false": false,
    "let": let,
    "local": local,
    "pwd": pwd,
    "read": read,
    "readonly": readonly,
    "return": return_,
    "set": set_,
    "shift": shift,
    "source": source,
    "test": answer_test,
    "trap": trap,
    "true": true,
    "type": type_,
    "typeset": local,
    "unset": unset,
    "wait": wait,
    "whence": whence,
}
SPECIAL_NAMES = frozenset(
    (
        *(".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly"),
        *("return", "set", "shift", "trap", "unset"),
    )
)
BUILTIN_NAMES = frozenset((*BUILTINS, "cat", "kill", "realpath", "sleep"))
