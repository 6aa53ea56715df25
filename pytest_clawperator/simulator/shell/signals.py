"""How commands and scripts end other than by coming to their end."""

from __future__ import annotations


class CommandFailure(Exception):
    """A command gives up; the shell prints its name, the message, and takes the status."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class ShellSignal(Exception):
    """Leaves a part of a script; never an error."""


class ShellExit(ShellSignal):
    """``exit``: the shell or subshell ends."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class FunctionReturn(ShellSignal):
    """``return``: the function or sourced file ends; the status is already set."""


class LoopExit(ShellSignal):
    """``break`` and ``continue``, out of so many loops."""

    def __init__(self, levels: int, *, again: bool) -> None:
        super().__init__(levels)
        self.levels = levels
        self.again = again
