"""Where commands are found."""

from __future__ import annotations

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.shell import Command, Shell

NOT_FOUND = 127
CANNOT_EXECUTE = 126
_PROGRAM_FOLDERS = ("/system/bin", "/system/xbin", "/vendor/bin", "/product/bin", "/bin")
IN_SHELL = frozenset(
    ("[", "cat", "cd", "echo", "exec", "exit", "export", "false", "kill", "pwd", "sleep", "true")
)
"""Commands that run in the shell's own process."""


def find_command(shell: Shell, name: str) -> Command:
    """Return a command by its name or path; CommandFailure if there is none."""
    folder, slash, base = name.rpartition("/")
    command = shell.commands.get(base)
    if command is not None and (not slash or folder in _PROGRAM_FOLDERS):
        return command
    if not slash or not _exists(shell, name):
        raise CommandFailure(f"{name}: inaccessible or not found", status=NOT_FOUND)
    raise CommandFailure(f"{name}: can't execute: Permission denied", status=CANNOT_EXECUTE)


def _exists(shell: Shell, path: str) -> bool:
    try:
        return shell.files.exists(shell.files.resolve(path, shell.cwd))
    except FileSystemError:
        return False
