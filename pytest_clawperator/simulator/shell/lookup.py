"""Where commands are found: in the shell, on the system image, or in files."""

from __future__ import annotations

import stat

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.encoding import decode
from pytest_clawperator.simulator.shell.exits import CommandFailure, ShellFailure
from pytest_clawperator.simulator.shell.language.syntax import UNSUPPORTED_BUILTINS
from pytest_clawperator.simulator.shell.shell import Command, Shell

NOT_FOUND = 127
CANNOT_EXECUTE = 126
_PROGRAM_FOLDERS = ("/system/bin", "/system/xbin", "/vendor/bin", "/product/bin", "/bin")
SHELL_ONLY = frozenset(
    (
        *(":", "[[", "break", "cd", "command", "continue", "exec", "exit", "export"),
        *("read", "set", "trap", "wait"),
    )
)
"""Commands that exist in the shell and have no file on the system image."""

IN_SHELL = SHELL_ONLY | frozenset(
    ("[", "cat", "echo", "false", "kill", "pwd", "sleep", "test", "true")
)
"""Commands that run in the shell's own process."""


def find_command(shell: Shell, name: str) -> Command | None:
    """Return a command of the shell or of the system image."""
    folder, slash, base = name.rpartition("/")
    if slash and (folder not in _PROGRAM_FOLDERS or base in SHELL_ONLY):
        return None
    return shell.commands.get(base)


def find_program(shell: Shell, name: str) -> str | None:
    """Return the path of a program, as ``which`` prints it."""
    if "/" not in name:
        return f"/system/bin/{name}" if name in shell.commands and name not in SHELL_ONLY else None
    found = find_command(shell, name) is not None
    return name if found or _is_executable(_mode(shell, name)) else None


def describe_command(shell: Shell, name: str) -> str | None:
    """Return what ``command -v`` prints: a path, or the name of a part of the shell."""
    if name in IN_SHELL and name in shell.commands:
        return name
    return find_program(shell, name)


def read_script_file(shell: Shell, name: str) -> str:
    """Return the text of an executable script file; raise CommandFailure if it is none."""
    if name in UNSUPPORTED_BUILTINS:
        raise ShellFailure(f"'{name}' is not supported by the simulated shell")
    mode = _mode(shell, name) if "/" in name else 0
    if name and not mode:
        raise CommandFailure(f"{name}: inaccessible or not found", status=NOT_FOUND)
    if not name or stat.S_ISDIR(mode):
        reason = "can't execute: Is a directory"
    elif not _is_executable(mode):
        reason = "can't execute: Permission denied"
    else:
        data = shell.files.read(shell.files.resolve(name, shell.cwd))
        if not data.startswith(b"\x7fELF"):
            return decode(data)
        reason = "not executable: 64-bit ELF file"
    raise CommandFailure(f"{name}: {reason}", status=CANNOT_EXECUTE)


def _mode(shell: Shell, path: str) -> int:
    try:
        return shell.files.stat(shell.files.resolve(path, shell.cwd)).mode
    except FileSystemError:
        return 0


def _is_executable(mode: int) -> bool:
    return stat.S_ISREG(mode) and bool(mode & 0o111)
