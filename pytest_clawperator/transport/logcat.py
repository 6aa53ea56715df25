"""The device's log as one long stream: read by a thread, kept in memory, reopened when broken."""

from __future__ import annotations

import contextlib
import copy
import secrets
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pytest_clawperator import errors
from pytest_clawperator.contracts.log import (
    DEVICE_TIME_COMMAND,
    FORMAT_OPTION,
    is_divider,
    is_log_line,
    time_of,
)
from pytest_clawperator.transport.wire import QUIET, AdbServer, acknowledge, mapped, read_rest

CAPACITY = 16 * 1024 * 1024

# The device cuts its entries at 4 KB; a longer line does not come from a log.
_LONGEST_LINE = 1024 * 1024
_CHUNK = 64 * 1024
_OPEN_DEADLINE = 10.0
_JOIN_DEADLINE = 5.0
# How long a broken stream may take to come back before waiting calls fail.
_GRACE = 2.0
_LONGEST_PAUSE = 1.0
_HOPEFUL_PAUSE = 0.1
# A stream that lasted so long was a good one; opening the next need not wait.
_STEADY = 1.0
# After so many streams in a row without a line, it is not a coincidence.
_MUTE_STREAMS = 3

# From the device's own time on, so that nothing is lost while logcat starts.
_NOW = f'"$({DEVICE_TIME_COMMAND} || echo 1)"'
_TAG = "pytest-clawperator"


class LogStream:
    """One persistent ``logcat``, opened at the first ``mark``; any thread may use it.

    ``on_notice`` is called with a sentence about each stretch of the log that was lost,
    ``on_silence`` when a call waits for a line and none has come for a while; it may raise.
    ``returns`` counts how often the device came back.
    """

    def __init__(
        self,
        server: AdbServer,
        serial: str,
        *,
        capacity: int = CAPACITY,
        on_notice: Callable[[str], None] = lambda _: None,
        on_silence: Callable[[], None] = lambda: None,
    ) -> None:
        self.returns = 0
        self._server = server
        self._serial = serial
        self._on_notice = on_notice
        self._on_silence = on_silence
        self._ring = Ring(capacity)
        # Plain locks, and no conditions or events: see `Wakeup`.
        self._lock = threading.Lock()
        self._changed = Wakeup()
        self._proving = threading.Lock()
        self._closing = False
        self._wanted = False
        self._thread: threading.Thread | None = None
        self._connection: socket.socket | None = None
        self._open = False
        self._proven = False
        self._problem: errors.ClawperatorError | None = None
        self._broken_at = float("-inf")
        self._mute_streams = 0
        self._continuation = Continuation([])
        self._starts_over = False
        self._heard_at = 0.0

    def mark(self) -> int:
        """Return the position after the newest line, once the stream is known to be live."""
        if not self._proven:
            self._prove()
        return self._ring.end

    def read(self, start: int, end: int | None = None) -> Sequence[bytes]:
        """Return the raw lines from a position on; those no longer kept are left out."""
        with self._lock:
            return self._ring.read(start, end)

    def wait(self, position: int, deadline: float) -> int:
        """Wait until a line stands at ``position``, or the monotonic deadline; return the end."""
        ring = self._ring
        while ring.end <= position:
            with self._lock:
                left = deadline - time.monotonic()
                if ring.end > position or left <= 0:
                    break
                patience = left if self._open else self._patience(left)
                woken = self._changed.waiter()
            if not woken.acquire(timeout=min(patience, QUIET)) and patience > QUIET:
                self._on_silence()
        return ring.end

    @contextlib.contextmanager
    def starting_over(self) -> Iterator[None]:
        """Start over after the block, in which the device goes back to an earlier state.

        Its log then does not continue what was read; the next ``mark`` is after it.
        """
        self._starts_over = True
        try:
            yield
        finally:
            with self._lock:
                # The open connection may lead to a logcat that has ended.
                self._starts_over, self._open, self._proven = True, False, False
            self._interrupt()

    def close(self) -> None:
        """End the stream and its thread; what was read stays readable."""
        self._closing = True
        with self._lock:
            thread = self._thread
            self._changed.wake_all()
        self._interrupt()
        # One whose start was interrupted cannot be joined, and ends by itself.
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            thread.join(_JOIN_DEADLINE)

    # In the threads of callers.

    def _patience(self, left: float) -> float:
        """Return how long to wait for a stream that is not open, or raise why it is not."""
        if self._closing:
            raise errors.LogcatError(
                "the log stream is closed",
                serial=self._serial,
                hint="Connect to the device again.",
            )
        grace = self._broken_at + _GRACE - time.monotonic()
        problem = self._problem
        if problem is None:
            return left
        if grace <= 0 or isinstance(problem, errors.DeviceError | errors.LogcatError):
            raise copy.copy(problem) from problem
        return min(left, grace)

    def _prove(self) -> None:
        """Ensure that the stream is open, and that what is logged now comes through."""
        with self._proving:
            if self._proven:
                return
            deadline = time.monotonic() + _OPEN_DEADLINE
            self._start()
            position = self._ring.end
            self._wait_until_open(deadline)
            nonce = secrets.token_hex(8)
            # A device without the means to log a line has to be trusted.
            if self._write_line(f"log opened {nonce}", deadline):
                self._find(nonce.encode(), position, deadline)
            with self._lock:
                self._proven = self._open

    def _start(self) -> None:
        """Start the thread; forget a problem that is over because the device is back."""
        with self._lock:
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(
                    target=self._run, name=f"log of {self._serial}", daemon=True
                )
                start_thread(self._thread)
            problem = self._problem
            if problem is None or isinstance(problem, errors.LogcatError):
                return
            hopeful = not isinstance(problem, errors.DeviceError) and self._is_in_grace()
        try:
            state = self._server.state(self._serial)
        except errors.AdbUnavailableError:
            # It may be starting; the thread keeps trying.
            if not hopeful:
                raise
            state = ""
        with self._lock:
            if state == "device" and not self._open:
                self._problem = None
                self._broken_at = time.monotonic()
            self._wanted = True
            self._changed.wake_all()

    def _wait_until_open(self, deadline: float) -> None:
        while True:
            with self._lock:
                if self._open:
                    return
                left = deadline - time.monotonic()
                if left <= 0:
                    raise self._mute("it could not be opened")
                patience = self._patience(left)
                woken = self._changed.waiter()
            woken.acquire(timeout=patience)

    def _write_line(self, text: str, deadline: float) -> bool:
        """Log a line on the device; return False if it has no command for that."""
        service = f"exec:log -p i -t {_TAG} '{text}'; echo $?"
        timeout = deadline - time.monotonic()
        with (
            self._server.open(self._serial, service, timeout=timeout) as connection,
            mapped(serial=self._serial, doing="log"),
        ):
            return read_rest(connection, deadline=deadline).strip() == b"0"

    def _find(self, nonce: bytes, position: int, deadline: float) -> None:
        while time.monotonic() < deadline:
            end = self.wait(position, deadline)
            if any(nonce in line for line in self.read(position, end)):
                return
            position = end
        # Perhaps the device's clock went back, and the time asked for is yet to come.
        self._starts_over = True
        self._interrupt()
        raise self._mute("a line that was logged did not come through")

    def _mute(self, why: str) -> errors.LogcatError:
        return errors.LogcatError(
            f"the device's log is mute: {why} within {_OPEN_DEADLINE:.0f} s",
            serial=self._serial,
            hint="Try `adb logcat`; some devices need logging switched on in their settings.",
        )

    def _interrupt(self) -> None:
        """End the thread's wait on its connection; the thread closes it."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(OSError):
                    self._connection.shutdown(socket.SHUT_RDWR)

    # In the thread of the stream.

    def _run(self) -> None:
        pause = 0.0
        away = False
        while not self._is_closed_after(pause):
            try:
                connection = self._open_logcat(away=away)
            except errors.ClawperatorError as error:
                away = True
                self._fail(error)
                pause = _longer(pause)
                self._wait_for_device()
                continue
            away = False
            opened_at = time.monotonic()
            with connection:
                heard = self._pump(connection)
            steady = time.monotonic() - opened_at > _STEADY
            pause = 0.0 if steady else _longer(pause)
            self._break(sound=heard or steady)

    def _is_closed_after(self, pause: float) -> bool:
        """Pause, unless the stream is needed now; return whether it is to end."""
        # A long pause could outlast the patience of a waiting call.
        longest = min(pause, _HOPEFUL_PAUSE) if self._is_in_grace() else pause
        with self._lock:
            hurry = self._wanted or self._closing
            woken = self._changed.waiter()
        woken.acquire(timeout=0 if hurry else longest)
        self._wanted = False
        return self._closing

    def _is_in_grace(self) -> bool:
        return time.monotonic() < self._broken_at + _GRACE

    def _open_logcat(self, *, away: bool) -> socket.socket:
        if self._starts_over:
            self._starts_over, self._continuation = False, Continuation([])
        self._continue_after_set_back()
        since, entries = self._continuation.since, self._continuation.entries
        at = entries or (_NOW if since is None else f"'{since.decode()}'")
        service = f"exec:logcat {FORMAT_OPTION} -T {at}"
        connection = self._server.open(self._serial, service, timeout=_OPEN_DEADLINE)
        self._hold(connection)
        with self._lock:
            self._open = True
            self.returns += away
            if not isinstance(self._problem, errors.LogcatError):
                self._problem = None
            self._changed.wake_all()
        return connection

    def _continue_after_set_back(self) -> None:
        """Read the whole log once, if the device's clock was set back since the last line."""
        since = self._continuation.since
        if since is None:
            return
        with self._lock:
            lines = self._ring.read(0)
        newest = max(filter(None, map(time_of, lines)), default=since)
        now = self._ask(DEVICE_TIME_COMMAND).strip()
        elapsed = time.monotonic() - self._heard_at
        if not is_set_back(now, newest, since, elapsed=elapsed):
            return
        log = self._ask(f"logcat -d {FORMAT_OPTION}").replace(b"\r\n", b"\n").split(b"\n")
        fresh, gap = following(lines[-OVERLAP:], log)
        if gap is not None:
            self._notify(str(gap))
        if fresh:
            self._keep(fresh)
        self._continuation = Continuation.after(log)

    def _ask(self, command: str) -> bytes:
        """Return the output of a command on the device."""
        deadline = time.monotonic() + _OPEN_DEADLINE
        with (
            self._server.open(self._serial, f"exec:{command}", timeout=_OPEN_DEADLINE) as answer,
            mapped(serial=self._serial, doing=command),
        ):
            with self._lock:
                self._connection = answer
            try:
                return read_rest(answer, deadline=deadline)
            finally:
                with self._lock:
                    self._connection = None

    def _hold(self, connection: socket.socket) -> None:
        """Remember the connection, for ``_interrupt`` to end the wait on it."""
        connection.settimeout(None)
        with self._lock:
            self._connection = connection
        if self._closing:
            self._interrupt()

    def _pump(self, connection: socket.socket) -> bool:
        """Keep what comes until the stream ends; return whether it was a log at all."""
        pending = b""
        heard = False
        with contextlib.suppress(OSError):
            while data := connection.recv(_CHUNK):
                lines = (pending + data if pending else data).split(b"\n")
                pending = lines.pop()
                if len(pending) > _LONGEST_LINE:
                    lines.append(pending)
                    pending = b""
                if b"\r" in data:
                    lines = [line.removesuffix(b"\r") for line in lines]
                heard = heard or any(map(is_log_line, lines))
                if not self._continuation.over:
                    lines = self._leave_out(lines)
                if lines:
                    self._keep(lines)
                acknowledge(connection)
        return heard

    def _keep(self, lines: list[bytes]) -> None:
        self._heard_at = time.monotonic()
        with self._lock:
            self._ring.append(lines)
            self._changed.wake_all()

    def _leave_out(self, lines: list[bytes]) -> list[bytes]:
        continuation = self._continuation
        fresh = continuation.unseen(lines)
        if continuation.gap is not None:
            self._notify(str(continuation.gap))
            continuation.gap = None
        return fresh

    def _notify(self, notice: str) -> None:
        # A listener that fails, perhaps because warnings are errors, must not end the log.
        with contextlib.suppress(Exception):
            self._on_notice(notice)

    def _break(self, *, sound: bool) -> None:
        with self._lock:
            self._connection = None
            self._open = False
            self._proven = False
            self._continuation = Continuation(tail := self._ring.read(self._ring.end - OVERLAP))
            if sound:
                self._mute_streams = 0
                self._problem = None
                self._broken_at = time.monotonic()
            else:
                self._mute_streams += 1
            if self._mute_streams >= _MUTE_STREAMS:
                said = tail[-1].decode("utf-8", "replace") if tail else "nothing"
                self._problem = errors.LogcatError(
                    f"logcat keeps ending immediately; its last line was: {said}",
                    serial=self._serial,
                    hint="Try `adb logcat`; the device may still be starting.",
                )
            self._changed.wake_all()

    def _fail(self, problem: errors.ClawperatorError) -> None:
        problem.serial = problem.serial or self._serial
        with self._lock:
            self._problem = problem
            self._changed.wake_all()

    def _wait_for_device(self) -> None:
        """Wait until adb sees the device; return immediately if adb does not support that."""
        question = f"host-serial:{self._serial}:wait-for-any-device"
        broken = contextlib.suppress(errors.ClawperatorError, OSError)
        with broken, self._server.start(question) as connection:
            self._hold(connection)
            connection.recv(4)
        with self._lock:
            self._connection = None


def _longer(pause: float) -> float:
    return min(max(pause * 2, 0.01), _LONGEST_PAUSE)


# What a kept line costs in addition to its bytes.
_LINE_COST = 41


class Ring:
    """The newest lines of a log, as many as fit, numbered from its beginning. Not locked."""

    def __init__(self, capacity: int) -> None:
        self.kept_from = 0
        self.end = 0
        self._capacity = capacity
        self._size = 0
        self._lines: list[bytes] = []

    def append(self, lines: list[bytes]) -> None:
        """Add lines at the end; the oldest go when there are too many bytes."""
        self._lines += lines
        self._size += sum(map(len, lines)) + _LINE_COST * len(lines)
        if self._size > self._capacity:
            self._drop_oldest()
        self.end += len(lines)

    def read(self, start: int, end: int | None = None) -> list[bytes]:
        """Return the lines from one number up to another; those no longer kept are left out."""
        first = max(start - self.kept_from, 0)
        last = None if end is None else max(end - self.kept_from, 0)
        return self._lines[first:last]

    def _drop_oldest(self) -> None:
        # A quarter in one go: shifting the rest of a long list for each line would be slow.
        goal = self._capacity * 3 // 4
        count = 0
        for line in self._lines:
            if self._size <= goal:
                break
            self._size -= len(line) + _LINE_COST
            count += 1
        del self._lines[:count]
        self.kept_from += count


# Continuing where a stream broke: no line comes twice, and a gap is noticed. The device is asked
# for what it logged from the last line's time on. If its clock was set back, times do not show
# what is new: then the whole log is read once, and the last known lines are searched in it.

# Lines of one moment may come in another order the next time, but not from further away.
OVERLAP = 2000
# How far a clock may lag behind; the device gives its time in whole seconds.
_LAG = 2.0


@dataclass(frozen=True)
class Gap:
    """Two device times between which log lines were lost."""

    after: str
    before: str

    def __str__(self) -> str:
        return f"lost log lines between {self.after} and {self.before} (device time)"


class Continuation:
    """The lines around one break.

    ``since`` is the time from which to ask the device for more, ``entries`` how many of its
    newest entries to ask for instead.
    """

    entries: int | None = None

    def __init__(self, tail: list[bytes]) -> None:
        tail = tail[-OVERLAP:]
        times = {line: time for line in tail if (time := time_of(line))}
        entries = [line for line in tail if line in times]
        self.gap: Gap | None = None
        self.over = not entries
        self.since = times[entries[-1]] if entries else None
        self._last = entries[-1] if entries else b""
        self._seen = Counter(line for line in entries if times[line] >= times[self._last])
        self._newest = max((times[line] for line in self._seen), default=b"")

    @classmethod
    def after(cls, log: Sequence[bytes]) -> Continuation:
        """Go on after the whole log was read: all that is in it was seen, whatever its time."""
        last = next((line for line in reversed(log) if time_of(line)), b"")
        continuation = cls([last])
        continuation.since, continuation.entries = None, OVERLAP
        continuation.over = False
        continuation._seen = Counter(log)
        return continuation

    def unseen(self, lines: list[bytes]) -> list[bytes]:
        """Leave out what was seen before; end with the first line later than all of that."""
        fresh: list[bytes] = []
        for at, line in enumerate(lines):
            if self._seen[line]:
                self._seen[line] -= 1
                continue
            time = time_of(line)
            if time is not None and time > self._newest:
                self._finish(time)
                return fresh + lines[at:]
            if not is_divider(line):
                fresh.append(line)
        return fresh

    def _finish(self, now: bytes) -> None:
        self.over = True
        if self._seen[self._last] and self.since is not None:
            self.gap = Gap(self.since.decode(), now.decode())


def is_set_back(now: bytes, newest: bytes, last: bytes, *, elapsed: float) -> bool:
    """Whether the device's clock was set back, so that times do not show what is new.

    ``now`` is its time, ``newest`` the latest that any line has, ``last`` that of the last
    line, which came so many seconds ago. A time that cannot be read counts as not set back.
    """
    times = [_seconds(each) for each in (now, newest, last)]
    if any(time is None for time in times):
        return False
    shown, highest, latest = (time or 0.0 for time in times)
    return shown + _LAG < latest + elapsed or latest + _LAG < highest


def following(tail: Sequence[bytes], log: Sequence[bytes]) -> tuple[list[bytes], Gap | None]:
    """Return the lines of a whole log that are new after ``tail``, and what was lost, if so."""
    seen = Counter(line for line in tail if time_of(line))
    entries = [line for line in log if time_of(line)]
    first = next((at for at, line in enumerate(entries) if seen[line]), None)
    if first is None:
        last = next((line for line in reversed(tail) if time_of(line)), b"")
        return entries, _gap(last, entries[0]) if entries and last else None
    fresh = []
    for line in entries[first:]:
        if seen[line]:
            seen[line] -= 1
        else:
            fresh.append(line)
    return fresh, None


def _gap(last: bytes, first: bytes) -> Gap:
    return Gap((time_of(last) or b"").decode(), (time_of(first) or b"").decode())


def _seconds(time: bytes) -> float | None:
    """Return a time of the log in seconds; it has no year, so one with a 29 February is used."""
    try:
        parsed = datetime.strptime(f"2000-{time.decode()}", "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        return None
    return (parsed - datetime(2000, 1, 1)).total_seconds()


class Wakeup:
    """Wakes waiting threads, in a way that Ctrl-C may end at any moment.

    Python's conditions and events take their lock in Python code. An interrupt there leaves the
    lock taken for good, or becomes a ``RuntimeError`` about a lock that is not taken. A plain lock
    in a ``with`` has no such moment, but no way to wait for a change; this adds it. Callers hold
    their lock for both methods.
    """

    def __init__(self) -> None:
        self._waiters: list[threading.Lock] = []

    def waiter(self) -> threading.Lock:
        """Return a lock that can be acquired after the next ``wake_all``.

        Acquire it only after releasing the lock that guards this object.
        """
        waiter = threading.Lock()
        waiter.acquire()
        self._waiters.append(waiter)
        return waiter

    def wake_all(self) -> None:
        """Wake all waiting threads, and forget those that gave up."""
        while self._waiters:
            self._waiters.pop().release()


def start_thread(thread: threading.Thread) -> None:
    """Start a thread; an interrupt during that is raised as ``KeyboardInterrupt``."""
    try:
        thread.start()
    except RuntimeError as error:
        # `Thread.start` waits for the thread with an event.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
