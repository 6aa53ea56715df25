"""Saving what a program made to a file on the phone."""

from __future__ import annotations

from pytest_clawperator.simulator.files import FileSystemError
from pytest_clawperator.simulator.shell.shell import Invocation


async def save_file(invocation: Invocation, path: str, data: bytes, *, complaint: str) -> int:
    """Write a file; print the complaint and return 1 where that fails."""
    shell = invocation.shell
    try:
        shell.files.write(shell.files.resolve(path, shell.cwd), data)
    except FileSystemError as error:
        await invocation.err(complaint.format(path, error.reason))
        return 1
    return 0
