"""The programs that run in a device's shells, and the signals that reach them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

NAMES = (
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
    "USR2", "PIPE", "ALRM", "TERM",
)  # fmt: skip
"""The names of the first signals, in the order of their numbers."""

TERMINATE = 15
_LAST_SIGNAL = 64
_FIRST_PID = 20000
_LAST_PID = 32767


def signal_number(text: str) -> int | None:
    """Return the number of a signal; None for an unknown one."""
    name = text.upper().removeprefix("SIG")
    if name in NAMES:
        return NAMES.index(name) + 1
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else -1
    return number if 0 <= number <= _LAST_SIGNAL else None


@dataclass(frozen=True)
class Program:
    """A program that runs until a signal comes; ``signal`` takes its number."""

    pid: int
    name: str
    signal: Callable[[int], None]


class Jobs:
    """The programs of one device that others can see and signal."""

    def __init__(self) -> None:
        self._programs: dict[int, Program] = {}
        self._next_pid = _FIRST_PID

    def new_pid(self) -> int:
        """Return a process id that is not in use."""
        while True:
            pid = self._next_pid
            self._next_pid = _FIRST_PID if pid == _LAST_PID else pid + 1
            if pid not in self._programs:
                return pid

    @contextmanager
    def program(self, name: str, *, pid: int, signal: Callable[[int], None]) -> Iterator[None]:
        """List a program while it runs, under the ``pid`` of its shell if that is free."""
        own = self.new_pid() if pid in self._programs else pid
        self._programs[own] = Program(own, name, signal)
        try:
            yield
        finally:
            del self._programs[own]

    def programs(self) -> list[Program]:
        """List the programs that run, by process id."""
        return sorted(self._programs.values(), key=lambda program: program.pid)

    def send(self, pid: int, number: int) -> bool:
        """Send a signal (0 only asks); return whether there is such a program."""
        program = self._programs.get(pid)
        if program is not None and number:
            program.signal(number)
        return program is not None
