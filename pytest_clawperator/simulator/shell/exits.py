"""Exceptions that end a command or a whole script early."""

from __future__ import annotations


class CommandFailure(Exception):
    """A command fails; the shell prints its name and the message and takes the status."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class ShellFailure(Exception):
    """The script cannot continue; the shell prints its own name and the message."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ShellExit(Exception):
    """The shell or subshell ends with this status; not an error."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
