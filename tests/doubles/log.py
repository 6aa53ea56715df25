"""A device whose log is written in advance, on a clock that only waiting moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_clawperator.transport.interface import OnOutput, ShellResult, ignored

OK = ShellResult("Broadcast completed: result=0\n", "", 0)


@dataclass
class Clock:
    """A clock that moves only when something waits."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@dataclass
class ScriptedLog:
    """Delivers each line at its time after the broadcast; an exception is raised at its time."""

    clock: Clock
    script: Sequence[tuple[float, bytes | Exception]] = ()
    lines: list[bytes] = field(default_factory=list)
    sent_at: float | None = None

    def mark(self) -> int:
        """Return the position after the newest line."""
        return len(self.lines)

    def read(self, start: int, end: int | None = None) -> Sequence[bytes]:
        """Return the lines from a position on."""
        return self.lines[start:end]

    def wait(self, position: int, deadline: float) -> int:
        """Move the clock to the next line, or to the deadline."""
        while len(self.lines) <= position:
            if not self._next(deadline):
                self.clock.now = max(self.clock.now, deadline)
                break
        return len(self.lines)

    def _next(self, deadline: float) -> bool:
        if self.sent_at is None or not self.script:
            return False
        (after, what), *rest = self.script
        if self.sent_at + after > deadline:
            return False
        self.clock.now = max(self.clock.now, self.sent_at + after)
        self.script = rest
        if isinstance(what, Exception):
            raise what
        self.lines.append(what)
        return True


class LoggedTransport:
    """A device that answers a broadcast by its scripted log; its shell is a table."""

    display: int | None = None
    connections = 1

    def __init__(
        self,
        *script: tuple[float, bytes | Exception],
        broadcast: ShellResult = OK,
        shell: dict[str, ShellResult] | None = None,
        serial: str = "PH1",
    ) -> None:
        self.serial = serial
        self.clock = Clock()
        self.log = ScriptedLog(self.clock, script)
        self.quick_shell = self
        self.commands: list[str] = []
        self.picture = b"\x89PNG\r\n\x1a\npictureIENDcrc!"
        self.dump = b""
        self.closed = False
        self.problem: Exception | None = None
        self._broadcast = broadcast
        self._shell = shell or {}

    def prepare(self) -> None:
        """Do nothing, or raise the scripted error."""
        if self.problem is not None:
            raise self.problem

    def start(self, command: str) -> None:
        """Take a broadcast: the script of the log begins."""
        self.commands.append(command)
        self.log.sent_at = self.clock()

    def result(self, timeout: float) -> ShellResult:
        """Return the result of the broadcast."""
        return self._broadcast

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Answer from the table; what it lacks succeeds in silence."""
        self.commands.append(command)
        return self._shell.get(command, ShellResult("", "", 0))

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Return the picture, or the log so far."""
        self.commands.append(command)
        return self.picture if command.startswith("screencap") else self.dump

    def push(self, source: bytes | Path, path: str) -> None:
        """Refuse: it has no files."""
        raise NotImplementedError

    def pull(self, path: str) -> bytes:
        """Refuse: it has no files."""
        raise NotImplementedError

    def install(self, apk: Path, *, timeout: float = 180.0) -> None:
        """Refuse: it installs no apps."""
        raise NotImplementedError

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True


def line(message: str, *, pid: int = 4242, priority: str = "I", tag: str = "Tag") -> bytes:
    """Print a log line as the device does."""
    head = f"03-28 10:00:00.000 {pid:5d} {pid:5d} {priority} {tag:<8}: "
    return head.encode() + message.encode("utf-8", "surrogatepass")


def logged(text: str) -> list[bytes]:
    """Return lines of a log, written as pid, priority, tag and message."""
    lines = []
    for line in text.strip().splitlines():
        pid, priority, rest = line.strip().split(" ", 2)
        lines.append(f"11-16 10:00:00.000 {pid:>5} {pid:>5} {priority} {rest}".encode())
    return lines


#: The report of a crash, with lines of others in between.
EXCEPTION = logged(
    """
    700 I ActivityManager: Start proc 812:com.example.shop/u0a11 for activity
    812 E AndroidRuntime: FATAL EXCEPTION: main
    812 E AndroidRuntime: Process: com.example.shop, PID: 812
    700 D SomeOther: a line of another process
    812 E AndroidRuntime: java.lang.IllegalStateException: no owner
    812 E AndroidRuntime: \tat com.example.Cart.owner(Cart.kt:7)
    812 I Process: Sending signal. PID: 812 SIG: 9
    812 E AndroidRuntime: not of this crash
    """
)
