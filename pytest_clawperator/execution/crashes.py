"""Crashes: the reports of them in the device's log, and whether the app under test had one.

Any app can log a crash report, so its source is checked: an uncaught exception is reported by
the process that dies of it, a hang or a death by the system.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from pytest_clawperator.contracts.log import TIME_LENGTH, LogEntry, parse_log_line
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.result import AppsSeen, started_app
from pytest_clawperator.snapshot.near_miss import SystemWindow, crash_dialog
from pytest_clawperator.transport.interface import Log

# Tags and texts of the system; obfuscated apps do not change them.
_RUNTIME, _NATIVE, _MANAGER = "AndroidRuntime", "DEBUG", "ActivityManager"
_MANAGERS = (_MANAGER, "ActivityTaskManager")
_FATAL = "FATAL EXCEPTION"
_PROCESS = re.compile(r"^Process: ([\w.:]+)(?:, PID: (\d+))?", re.MULTILINE)
_STARTED = re.compile(r"Start proc (\d+):([\w.:]+)/")
_KILLED = re.compile(r"Killing (\d+):")
# Newer versions add how important the process was, and what it was doing.
_DIED = re.compile(r"Process ([\w.:]+) \(pid (\d+)\) has died(?:: (.*))?")
_IN_FRONT = re.compile(r"\bTOP\b")
# What the system does at once to an app that crashes in front.
_FINISHED = re.compile(r"Force finishing activity (?:\d+ )?([\w.]+)/")
_DEATH = "died by itself"
_TOMBSTONE = "*** *** ***"
_NATIVE_PROCESS = re.compile(r">>> (\S+) <<<")
_NATIVE_PID = re.compile(r"pid: (\d+), tid: ")
_SIGNAL = re.compile(r"signal \d+ \((\w+)\).*")
_ANR = re.compile(r"ANR in ([\w.:]+)")
_ANR_ACTIVITY = re.compile(r"ANR in [\w.:]+ \(")
_ANR_PID = re.compile(r"PID: (\d+)")
_REASON = re.compile(r"Reason: (.+)")
#: What to do about a crash.
EXPECTING = (
    "The whole report is in log.txt, or in `adb logcat -b crash`; a test that means the crash says"
    " so: with claw.expecting_crash(): ..."
)
# How many lines of a report an error shows after the reason.
_SHOWN_LINES = 6
_Key = tuple[str, int | None]


@dataclass(frozen=True)
class Crash:
    """A crash, a hang or a death: which process, what happened, why, and its report in the log.

    ``lines`` are the indexes of the report's lines, ``report`` their messages. ``was_in_front``:
    the log says that the app was what the user saw.
    """

    process: str
    what: str
    reason: str
    lines: tuple[int, ...] = ()
    report: tuple[str, ...] = ()
    pid: int | None = None
    was_in_front: bool = False

    def __str__(self) -> str:
        return f"{self.process} {self.what}{f': {self.reason}' if self.reason else ''}"

    @property
    def key(self) -> _Key:
        """What tells crashes apart while more lines of their reports come in."""
        return self.process, self.pid

    @property
    def is_death(self) -> bool:
        """Whether the process ended without a report."""
        return self.what == _DEATH

    @property
    def package(self) -> str:
        """The package of the process, which may have several."""
        return self.process.partition(":")[0]

    @property
    def head(self) -> tuple[str, ...]:
        """The first lines of the report after the reason: the top of the stack."""
        reasons = [place for place, line in enumerate(self.report) if self.reason in line]
        after = self.report[reasons[0] + 1 :] if self.reason and reasons else ()
        return tuple(line.expandtabs(2) for line in after[:_SHOWN_LINES])


def find_crashes(lines: Sequence[bytes], *, system: Collection[int] | None = None) -> list[Crash]:
    """Return all crashes, hangs and deaths, in the order of the log.

    A process that dies of a crash is listed once. ``system`` has the ids of the system's
    processes; with None every process that claims to be one is believed.
    """
    entries = [parse_log_line(line) for line in lines]
    lives = _Lives(entries, system)
    found: list[Crash] = []
    taken: set[int] = set()
    for place, entry in enumerate(entries):
        if entry is None or place in taken:
            continue
        if _begins(entry):
            places = tuple(_report_lines(entries, place))
            taken.update(places)
            messages = [one.message for at in places if (one := entries[at]) is not None]
            crash = _crash(entry, places, messages)
            if lives.may_report(entry, messages, crash):
                found.append(replace(crash, was_in_front=lives.was_in_front(crash)))
        elif (death := lives.death(entry, place)) and death.pid not in {one.pid for one in found}:
            found.append(death)
    return found


def _begins(entry: LogEntry) -> bool:
    if entry.tag == _RUNTIME:
        return entry.priority == "E" and entry.message.startswith(_FATAL)
    if entry.tag == _NATIVE:
        return entry.priority == "F" and entry.message.startswith(_TOMBSTONE)
    return entry.tag == _MANAGER and entry.message.startswith("ANR in ")


def _report_lines(entries: Sequence[LogEntry | None], start: int) -> Iterator[int]:
    """Yield the indexes of a report's lines; lines of other processes may be in between."""
    first = entries[start]
    assert first is not None
    yield start
    for place in range(start + 1, len(entries)):
        entry = entries[place]
        if entry is None or (entry.pid, entry.tid) != (first.pid, first.tid):
            continue
        if (entry.tag, entry.priority) != (first.tag, first.priority) or _begins(entry):
            return
        yield place


class _Lives:
    """What the system logs about processes: their names, and which of them it killed itself."""

    def __init__(self, entries: Sequence[LogEntry | None], system: Collection[int] | None) -> None:
        self._system = system
        self._names: dict[int, set[str]] = {}
        self._killed: set[int] = set()
        self._ended_in_front: set[int] = set()
        self._finished: list[tuple[int, str]] = []
        for place, entry in enumerate(entries):
            if entry is None or not is_by_system(entry, system):
                continue
            if finished := _FINISHED.search(entry.message):
                self._finished.append((place, finished[1]))
            elif named := _STARTED.match(entry.message):
                self._names.setdefault(int(named[1]), set()).add(named[2])
            elif died := _DIED.match(entry.message):
                self._names.setdefault(int(died[2]), set()).add(died[1])
                if _IN_FRONT.search(died[3] or ""):
                    self._ended_in_front.add(int(died[2]))
            elif killed := _KILLED.match(entry.message):
                self._killed.add(int(killed[1]))

    def _is_by_manager(self, entry: LogEntry) -> bool:
        return entry.tag == _MANAGER and is_by_system(entry, self._system)

    def was_in_front(self, crash: Crash) -> bool:
        """Whether an app that reported a crash was in front then."""
        if crash.pid in self._ended_in_front or _ANR_ACTIVITY.match(crash.report[0]):
            return True
        start = crash.lines[0]
        return any(place > start and one == crash.package for place, one in self._finished)

    def may_report(self, first: LogEntry, messages: Sequence[str], crash: Crash) -> bool:
        """Whether a report was logged by a process that can know."""
        if first.tag == _MANAGER:
            return self._is_by_manager(first)
        if first.tag == _NATIVE:  # the crash handler is a process started for it
            return crash.pid is None or crash.process in self._names.get(crash.pid, {crash.process})
        claimed = next(filter(None, map(_PROCESS.match, messages)), None)
        if claimed is None:
            return True
        name, pid = claimed.groups()
        is_itself = pid is None or int(pid) == first.pid
        return is_itself and name in self._names.get(first.pid, {name})

    def death(self, entry: LogEntry, place: int) -> Crash | None:
        """Return the death of a process that was in front and that the system did not kill."""
        died = _DIED.match(entry.message) if self._is_by_manager(entry) else None
        if died is None:
            return None
        process, pid, state = died[1], int(died[2]), died[3]
        may_be_in_front = pid in self._ended_in_front if state else ":" not in process
        if pid in self._killed or not may_be_in_front:
            return None
        report = (entry.message,)
        return Crash(process, _DEATH, "", (place,), report, pid, was_in_front=bool(state))


def is_by_system(entry: LogEntry, system: Collection[int] | None) -> bool:
    """Whether a line is one of the system about apps; see ``find_crashes``."""
    return entry.tag in _MANAGERS and (system is None or entry.pid in system)


def _crash(first: LogEntry, places: tuple[int, ...], messages: list[str]) -> Crash:
    text, report = "\n".join(messages), tuple(messages)
    if first.tag == _MANAGER:
        reason, process = _group(_REASON, text, otherwise=""), _group(_ANR, text)
        pid = _number(_ANR_PID, text)
        return Crash(process, "does not respond (ANR)", reason, places, report, pid)
    if first.tag == _NATIVE:
        signal = _SIGNAL.search(text)
        process, pid = _group(_NATIVE_PROCESS, text), _number(_NATIVE_PID, text)
        return Crash(process, "crashed", signal[0] if signal else "", places, report, pid)
    process, reason = _group(_PROCESS, text), _exception(messages)
    return Crash(process, "crashed", reason, places, report, first.pid)


def _exception(messages: Sequence[str]) -> str:
    """Return the first line after those that name thread and process."""
    rest = (line for line in messages if not line.startswith((_FATAL, "Process: ", "PID: ")))
    return next(rest, "")


def _group(pattern: re.Pattern[str], text: str, otherwise: str = "an app") -> str:
    found = pattern.search(text)
    return found[1] if found else otherwise


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found[1]) if found else None


# The app under test

# A quick test for the lines that are kept: all that the reports above consist of.
_IS_RELEVANT = re.compile(
    rb"[^A-Z]{%d,}[EFWI] (?:AndroidRuntime|DEBUG|Activity(?:Task)?Manager) *: " % TIME_LENGTH
)
# A test has far fewer; a script may run for days.
_MOST_KEPT = 20_000
# How long after the last touch an app may take to crash of it.
_GRACE = 0.2


class AppWatch:
    """Whether the app under test crashed, hung or died by itself since the test began.

    That is the app that was named, and each that the test opened; if none was named, also each
    that was in front: ``seen`` knows those that were on a snapshot or started, and the log of a
    crash tells of the others. Without a ``log``, as for a device of another host, only a dialog
    on the screen shows it. ``is_settled``: the test failed already, so it need not
    fail for a crash. ``known_window`` is the window of the system that it has looked at.
    ``may_show_dialog``: an app crashed, or may have, and nobody has closed its dialog yet.
    """

    def __init__(
        self,
        seen: AppsSeen,
        log: Log | None = None,
        *,
        system: Callable[[], Collection[int] | None] = lambda: None,
    ) -> None:
        self.seen = seen
        self._log = log
        self._system = system
        self._position = 0
        self._named: str | None = None
        self._kept: deque[bytes] = deque(maxlen=_MOST_KEPT)
        self._found: list[Crash] = []
        self._earlier: set[int | None] = set()
        self._expected: set[_Key] = set()
        self._before: set[_Key] | None = None
        self.is_settled = False
        self.known_window: SystemWindow | None = None
        self.may_show_dialog = log is not None

    def begin(self) -> Crash | None:
        """Begin a test; return the crash of the one before that came after its end, if any."""
        self.read_log()
        late = None if self.is_settled else self.crash
        self.may_show_dialog |= self.seen.dialog is not None
        self._named = None
        self.seen.clear()
        self._forget()
        return late

    def name(self, package: str, *, is_fresh: bool) -> None:
        """Name the app under test; if it was just stopped, nothing before counts."""
        self._named = package
        if is_fresh:
            self._forget()

    def skip_to(self, position: int) -> None:
        """Leave out what the log has before a position, because it is of another time."""
        self._position = position

    def _forget(self) -> None:
        self.is_settled = False
        self.known_window = None
        self._expected = set()
        self._earlier.update(one.pid for one in self._found)
        self._found = []
        self._kept.clear()
        self.seen.dialog = None
        if self._log is not None:
            self._position = _end_of(self._log)

    @property
    def crash(self) -> Crash | None:
        """The first crash of the app under test that was not expected."""
        unexpected = (one for one in self._crashes() if one.key not in self._expected)
        if self._before is not None:  # in a block that expects the others
            unexpected = (one for one in unexpected if one.key in self._before)
        return next(unexpected, None)

    def explains(self, window: SystemWindow) -> bool:
        """Whether a window of the system is there because the test asked for it."""
        if window.is_crash:
            return self._before is not None or bool(self._expected)
        return window.package == self._named or window.package in self.seen.opened

    def crash_at_end(self, *, is_over: bool = True) -> Crash | None:
        """Return the crash that a test must fail for at its end, if it did not fail before.

        An app may crash a moment after it was touched, so that is waited for if the test is over.
        """
        if self.is_settled:
            return None
        if is_over and self._log is not None and self.seen.touched_at is not None:
            deadline = self.seen.touched_at + _GRACE
            with suppress(ClawperatorError):  # a device that is gone has no more to say
                while self.crash is None and time.monotonic() < deadline:
                    self._log.wait(self._position, deadline)
        self.is_settled = (crash := self.crash) is not None
        return crash

    # A crash that is expected

    def expect(self) -> None:
        """Expect the next crash."""
        self._before = {one.key for one in self._crashes()}

    def stop_expecting(self) -> None:
        """Expect no crash any more; those since ``expect`` were expected."""
        self._expected.update(self._expected_now())
        self._before = None

    def await_expected(self, deadline: float, look: Callable[[], object]) -> bool:
        """Wait for the expected crash, or the monotonic deadline; return whether it came.

        ``look`` takes a snapshot, which is all there is without a log.
        """
        while not self._expected_now():
            if time.monotonic() >= deadline:
                return False
            if self._log is None:
                look()
            else:
                self._log.wait(self._position, deadline)
        return True

    def _expected_now(self) -> set[_Key]:
        return {one.key for one in self._crashes()} - (self._before or set())

    # The log

    def _crashes(self) -> list[Crash]:
        """Return the crashes of the app under test, also those that were expected."""
        if self._log is None:
            return self._by_dialog()
        self.read_log()
        packages = self.seen.opened | ({self._named} if self._named else self.seen.in_front)
        is_unknown = not packages and self._before is not None  # only the test knows which
        return [
            one
            for one in self._found
            if is_unknown or one.package in packages or (one.was_in_front and self._named is None)
        ]

    def read_log(self) -> None:
        """Read on in the log; it keeps only so many lines."""
        log = self._log
        if log is None:
            return
        start, self._position = self._position, max(self._position, _end_of(log))
        lines = log.read(start, self._position)
        relevant = [line for line in lines if _IS_RELEVANT.match(line)]
        if relevant:
            self._kept += relevant
            system = self._system()
            entries = [one for line in relevant if (one := parse_log_line(line)) is not None]
            started = (started_app(one) for one in entries if is_by_system(one, system))
            self.seen.in_front.update(filter(None, started))
            found = find_crashes(list(self._kept), system=system)
            # A process whose crash was noticed before may live until its dialog is closed.
            self._found = [one for one in found if not (one.is_death and one.pid in self._earlier)]
            self.may_show_dialog |= not all(one.is_death for one in self._found)

    def _by_dialog(self) -> list[Crash]:
        if self.seen.dialog is None:
            return []
        title = crash_dialog(self.seen.dialog.snapshot) or "a dialog about a crash"
        return [Crash(title, "was on the screen", "")]


def _end_of(log: Log) -> int:
    """Return how far the log was read; the deadline is over, so this returns immediately."""
    return log.wait(0, 0.0)
