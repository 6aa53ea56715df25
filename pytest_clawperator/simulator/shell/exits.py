"""Exceptions that end a command, a loop or a whole script early."""

from __future__ import annotations


class CommandFailure(Exception):
    """A command fails; the shell prints its name and the message and takes the status."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class ShellFailure(Exception):
    """The script cannot continue; the message lacks the shell's name in front."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class TextTooLong(Exception):
    """A script asks the shell to hold more text than there is room for."""


class BrokenPipe(Exception):
    """Nobody reads any more what a command writes."""


class ControlFlow(Exception):
    """Leaves a part of a script; not an error."""


class ShellExit(ControlFlow):
    """``exit``: the shell or subshell ends."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ScriptAborted(ShellExit):
    """The script ends after an error that was already reported."""


class LoopExit(ControlFlow):
    """``break``, or with ``again`` ``continue``."""

    def __init__(self, *, again: bool) -> None:
        super().__init__(again)
        self.again = again
