"""Which processes of a device are the Operator's, and which the system's.

Any app can log any text under any tag. Only the process id of a line comes from the device itself,
so a line is trusted by its process: the Operator's about itself, the system's about the Operator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pytest_clawperator.contracts.log import LogEntry, message_filter, parse_log_line
from pytest_clawperator.transport.interface import Log, Transport
from pytest_clawperator.transport.shell import quote

#: Lists every process with its user. No names: an app chooses those of its processes itself.
#: Before Android 8 ``ps`` has no such options, and always lists every process in full.
PROCESSES_COMMAND = (
    'if [ "$(getprop ro.build.version.sdk)" -lt 26 ]; then ps; else ps -A -o USER,PID; fi'
)
#: How the system's messages about the start or end of a process begin, for ``message_filter``.
LIFE_SIGNS = (rb"Start proc \d", rb"Killing \d", rb"Process \S+ \(pid \d+\) has died")

_PROCESS = re.compile(r"^(\S+) +(\d+)(?: +\d+ +\d+ +\d+ .*)?\s*$", re.MULTILINE)
_APP_USER = re.compile(r"u\d+_a(\d+)")
_FIRST_APP_ID = 10000
_SYSTEM_USERS = frozenset({"root", "system"})
# The first name is Android 13's and later; the second is that of older versions.
_APP_ID = re.compile(r"^\s*(?:appId|userId)=(\d+)\b", re.MULTILINE)
_STARTED = re.compile(r"Start proc (\d+):\S+?/u\d+a(\d+)\b")
_ENDED = re.compile(r"Killing (\d+):|Process \S+ \(pid (\d+)\) has died")
# Short, because a command is waiting for its answer.
_ANSWER_WITHIN = 10.0
_IS_LIFE_SIGN = message_filter(b"IWE", *LIFE_SIGNS)


@dataclass(frozen=True)
class Processes:
    """The ids of the Operator's processes and of the system's; ``app_id`` is the Operator's."""

    app_id: int
    operator: frozenset[int]
    system: frozenset[int]

    def after(self, entry: LogEntry) -> Processes:
        """Return the processes after a line, in which the system may report a start or an end."""
        if entry.pid not in self.system:
            return self
        started = _STARTED.match(entry.message)
        if started is None:
            return self._without(ended_process(entry.message))
        pid = int(started[1])
        is_ours = int(started[2]) + _FIRST_APP_ID == self.app_id
        others = replace(self._without(pid), system=self.system - {pid})
        return replace(others, operator=others.operator | {pid}) if is_ours else others

    def _without(self, pid: int | None) -> Processes:
        """Return the processes without one of the Operator's, whose id may be used again."""
        return replace(self, operator=self.operator - {pid}) if pid in self.operator else self


def ended_process(message: str) -> int | None:
    """Return the process whose end a message of the system reports, or None."""
    ended = _ENDED.match(message)
    return None if ended is None else int(ended[1] or ended[2])


def parse_processes(listed: str, package_dump: str, package: str) -> Processes | None:
    """Parse ``PROCESSES_COMMAND`` and ``dumpsys package``; return None if they lack something."""
    start = package_dump.find(f"Package [{package}]")
    found = _APP_ID.search(package_dump, max(start, 0))
    users: dict[str, set[int]] = {}
    for user, pid in _PROCESS.findall(listed):
        users.setdefault(user, set()).add(int(pid))
    if found is None or "system" not in users:
        return None
    app_id = int(found[1]) % 100_000
    ours = (pids for user, pids in users.items() if _app_id_of(user) == app_id)
    system = (pids for user, pids in users.items() if user in _SYSTEM_USERS)
    return Processes(app_id, frozenset().union(*ours), frozenset().union(*system))


def ask_processes(transport: Transport, package: str) -> Processes | None:
    """Ask the device which processes run; return None if it does not answer usefully."""
    question = f"{PROCESSES_COMMAND}; dumpsys package {quote(package)}"
    output = transport.shell(question, timeout=_ANSWER_WITHIN).stdout
    return parse_processes(output, output, package)


class KnownProcesses:
    """What is known about a device's processes, kept from one command to the next.

    ``current`` is None if they are unknown: then lines are trusted by their text.
    """

    def __init__(self, ask: Callable[[], Processes | None]) -> None:
        self.current: Processes | None = None
        self._ask = ask
        self._is_asked = False
        self._read_to = 0

    def update(self, processes: Processes | None) -> None:
        """Take over what the device just answered."""
        self.current = processes
        self._is_asked = True

    def forget(self, position: int) -> None:
        """Forget the processes and the log before a position; the device will be asked again."""
        self.current = None
        self._is_asked = False
        self._read_to = position

    def ask(self) -> Processes | None:
        """Ask the device again; without an answer, what is known stays."""
        self.update(self._ask() or self.current)
        return self.current

    def catch_up(self, log: Log, position: int) -> Processes | None:
        """Return the processes at a position of the log, after reading up to it."""
        if not self._is_asked:
            self.ask()
        elif self.current is not None:
            lines = log.read(self._read_to, position)
            self.current = _after(self.current, lines)
        self._read_to = position
        return self.current

    def keep(self, processes: Processes | None, position: int) -> None:
        """Keep what the reader of a command has learnt up to a position of the log."""
        self.current = processes
        self._read_to = position


def _after(processes: Processes, lines: Iterable[bytes]) -> Processes:
    for line in lines:
        entry = parse_log_line(line) if _IS_LIFE_SIGN.match(line) else None
        if entry is not None:
            processes = processes.after(entry)
    return processes


def _app_id_of(user: str) -> int | None:
    found = _APP_USER.fullmatch(user)
    return int(found[1]) + _FIRST_APP_ID if found else None
