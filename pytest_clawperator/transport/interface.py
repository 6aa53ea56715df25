"""What a run needs from a device, as protocols: a run works on anything with these methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

#: Called with each piece of a command's output.
OnOutput = Callable[[bytes], None]

# The exit code of shells for an unknown command; toybox's `cmd` has another one.
_NOT_FOUND = 127


def ignored(piece: bytes) -> None:
    """Do nothing with a piece of output."""


@dataclass(frozen=True)
class ShellResult:
    """What a device command printed, and how it ended; it is false if the command failed."""

    stdout: str
    stderr: str
    exit_code: int

    @property
    def ok(self) -> bool:
        """Whether the command succeeded."""
        return self.exit_code == 0

    def __bool__(self) -> bool:
        return self.ok

    @property
    def missing(self) -> bool:
        """Whether the device has no such command, which is not an error."""
        return self.exit_code == _NOT_FOUND


class Log(Protocol):
    """The device's log as one long stream, read from positions and never cleared.

    A position counts lines since the stream was opened and never goes back.
    """

    def mark(self) -> int:
        """Return the position after the newest line, once the stream is known to be live."""
        ...

    def read(self, start: int, end: int | None = None) -> Sequence[bytes]:
        """Return the raw lines from a position on; those no longer kept are left out."""
        ...

    def wait(self, position: int, deadline: float) -> int:
        """Wait until a line stands at ``position``, or the monotonic deadline; return the end.

        Raises what went wrong with the device or its log, should the stream be broken and
        not come back immediately.
        """
        ...


class QuickShell(Protocol):
    """A shell that stays open, for one command at a time of the device's holder.

    The command must read no input and leave the shell as it is.
    """

    def prepare(self) -> None:
        """Ensure that a command can be sent; if this raises, nothing was sent."""
        ...

    def start(self, command: str) -> None:
        """Send a command."""
        ...

    def result(self, timeout: float) -> ShellResult:
        """Wait for the end of the command sent last; its two outputs come as one."""
        ...


class Shell(Protocol):
    """Runs commands on a device."""

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Run a command to its end."""
        ...


class Transport(Protocol):
    """One device, however it is reached."""

    @property
    def serial(self) -> str:
        """What the device is called."""
        ...

    @property
    def display(self) -> int | None:
        """The number of the display that tests use; None for the one in use."""
        ...

    @property
    def connections(self) -> int:
        """How often the device was connected to: a new number means that it was away."""
        ...

    @property
    def log(self) -> Log:
        """The log stream, opened at its first use."""
        ...

    @property
    def quick_shell(self) -> QuickShell:
        """The shell that stays open, quicker than one made for each command."""
        ...

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Run a command line in the device's shell."""
        ...

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Run a command line and return its output as it is.

        ``on_output`` is called with each piece of it as it comes in.
        """
        ...

    def push(self, source: bytes | Path, path: str) -> None:
        """Write a file on the device."""
        ...

    def pull(self, path: str) -> bytes:
        """Read a file of the device."""
        ...

    def install(self, apk: Path, *, timeout: float = 180.0) -> None:
        """Install an app, keeping the data of an earlier version."""
        ...

    def close(self) -> None:
        """End the log stream and every connection."""
        ...
