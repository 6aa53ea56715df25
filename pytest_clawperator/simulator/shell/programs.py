"""Where commands are found: in the shell, on the system image, or in files."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.builtins import BUILTIN_NAMES, BUILTINS
from pytest_clawperator.simulator.shell.escapes import decode

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Command, Shell

NOT_FOUND = 127
CANNOT_EXECUTE = 126
_PROGRAM_FOLDERS = ("/system/bin", "/system/xbin", "/vendor/bin", "/product/bin", "/bin")


def find_command(shell: Shell, name: str) -> Command | None:
    """Give a command of the shell or of the system image."""
    return BUILTINS.get(name) or _program(shell, name)


def find_path(shell: Shell, name: str) -> str | None:
    """Say where a command is: its path, or its name if it is part of the shell."""
    if name in BUILTIN_NAMES:
        return name
    if "/" in name:
        return name if _program(shell, name) or _is_executable(shell, name) else None
    if _program(shell, name) is not None:
        return f"/system/bin/{name}"
    folders = shell.env.get("PATH", "").split(":")
    paths = [f"{folder}/{name}" for folder in folders if folder]
    return next((path for path in paths if _is_executable(shell, path)), None)


async def run_program_file(shell: Shell, args: list[str]) -> int:
    """Run an executable file, or say why there is nothing to run."""
    name = args[0]
    path = name if "/" in name else find_path(shell, name)
    mode = _mode(shell, path) if path else 0
    if name and not mode:
        await shell.complain(f"{name}: inaccessible or not found")
        return NOT_FOUND
    if not path or stat.S_ISDIR(mode):
        await shell.complain(f"{name}: can't execute: Is a directory")
        return CANNOT_EXECUTE
    if not _is_executable(shell, path):
        await shell.complain(f"{name}: can't execute: Permission denied")
        return CANNOT_EXECUTE
    script = shell.files.read(shell.files.resolve(path, shell.cwd))
    if script.startswith(b"\x7fELF"):
        await shell.complain(f"{name}: not executable: 64-bit ELF file")
        return CANNOT_EXECUTE
    return await shell.run_file(path, decode(script), args[1:])


def _program(shell: Shell, name: str) -> Command | None:
    if "/" in name:
        folder, _, base = name.rpartition("/")
        return shell.commands.get(base) if folder in _PROGRAM_FOLDERS else None
    folders = shell.env.get("PATH", "/system/bin").split(":")
    if name not in BUILTIN_NAMES and not any(path in folders for path in _PROGRAM_FOLDERS):
        return None
    return shell.commands.get(name)


def _mode(shell: Shell, path: str) -> int:
    try:
        return shell.files.stat(shell.files.resolve(path, shell.cwd)).mode
    except FileSystemError:
        return 0


def _is_executable(shell: Shell, path: str) -> bool:
    mode = _mode(shell, path)
    return stat.S_ISREG(mode) and bool(mode & 0o111)
