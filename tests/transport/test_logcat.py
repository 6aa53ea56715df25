"""The log stream against a scripted server: lines, positions, breaks and returns."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.errors import (
    AdbUnavailableError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    ErrorCode,
    LogcatError,
    TransportError,
)
from pytest_clawperator.transport import logcat
from pytest_clawperator.transport.logcat import LogStream, Ring, Wakeup, start_thread
from tests.doubles.adb_server import (
    DEADLINE,
    SERIAL,
    Conversation,
    FakeAdb,
    block,
    eventually,
    failure,
    nothing_left,
)
from tests.doubles.interrupting import interruptions

NO_LOG_COMMAND = b"OKAYsh: log: inaccessible or not found\n127\n"
WAIT = f"host-serial:{SERIAL}:wait-for-any-device"
STATE = f"host-serial:{SERIAL}:get-state"


def line(milliseconds: int, text: str) -> bytes:
    """Write a log line of a moment."""
    return f"03-28 10:00:00.{milliseconds:03d}  42  42 I tag     : {text}".encode()


def soon() -> float:
    """Return a deadline that is far enough away."""
    return time.monotonic() + DEADLINE


@contextmanager
def stream(adb: FakeAdb, *, capacity: int = logcat.CAPACITY) -> Iterator[LogStream]:
    """Yield a stream that is closed in the end and leaves nothing behind."""
    with nothing_left():
        log = LogStream(adb.server, SERIAL, capacity=capacity)
        try:
            yield log
        finally:
            log.close()


@contextmanager
def opened(
    adb: FakeAdb, *, capacity: int = logcat.CAPACITY
) -> Iterator[tuple[LogStream, Conversation]]:
    """Yield an open stream and the device's side of it."""
    adb.answers.setdefault("exec:log ", NO_LOG_COMMAND)
    with stream(adb, capacity=capacity) as log:
        log.mark()
        yield log, adb.next("exec:logcat -v threadtime -T ")


def collect(log: LogStream, count: int) -> list[bytes]:
    """Wait for so many lines from the beginning."""
    deadline = soon()
    while (end := log.wait(count - 1, deadline)) < count:
        assert time.monotonic() < deadline, f"{end} lines only"
    return list(log.read(0, count))


def test_it_is_live_once_a_line_has_come_through() -> None:
    """The first mark logs a line on the device and returns only when it is read back."""
    written = threading.Event()

    def log_command(conversation: Conversation) -> None:
        adb.answers["text"] = conversation.service.split("'")[1].encode()
        conversation.send(b"OKAY0\n")
        conversation.close()
        written.set()

    with FakeAdb({"exec:log ": log_command}) as adb, stream(adb) as log:
        marks: list[int] = []
        marking = threading.Thread(target=lambda: marks.append(log.mark()))
        marking.start()
        device = adb.next("exec:logcat ")
        assert written.wait(DEADLINE)
        text = adb.answers.pop("text")
        assert isinstance(text, bytes)
        device.send(line(1, "older") + b"\n")
        collect(log, 1)
        unproven = list(marks)
        device.send(line(2, text.decode()) + b"\n")
        marking.join(DEADLINE)

    assert unproven == []
    assert marks == [2]


def test_a_device_that_cannot_log_is_trusted() -> None:
    """Without the means to write a line, an open stream has to do."""
    with FakeAdb({"exec:log ": NO_LOG_COMMAND}) as adb, stream(adb) as log:
        position = log.mark()

    assert position == 0


def test_a_line_that_does_not_come_through_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that swallows lines is told as such, and the stream begins anew from now on."""
    monkeypatch.setattr(logcat, "_OPEN_DEADLINE", 0.2)
    with FakeAdb({"exec:log ": b"OKAY0\n"}) as adb, stream(adb) as log:
        with pytest.raises(LogcatError, match="did not come through") as caught:
            log.mark()
        first, second = adb.next("exec:logcat "), adb.next("exec:logcat ")

    assert caught.value.code == ErrorCode.LOGCAT_UNAVAILABLE
    assert first.service == second.service
    assert "date" in second.service


def test_lines_end_at_line_feeds_only() -> None:
    """Pieces are put together, a carriage return is dropped, and no other byte ends a line."""
    with FakeAdb() as adb, opened(adb) as (log, device):
        for piece in (b"one\r\ntw", b"o\x85\x1c\x0b", b"\xe2\x80\xa8\xff\nth", b"ree\n\n", b"rest"):
            device.send(piece)
            time.sleep(0.001)  # so that pieces are mostly read apart; the result is the same
        lines = collect(log, 4)

    assert lines == [b"one", b"two\x85\x1c\x0b\xe2\x80\xa8\xff", b"three", b""]


def test_waiting_ends_with_the_line() -> None:
    """Who waits at a position is woken by the line that comes there."""
    with FakeAdb() as adb, opened(adb) as (log, device):
        ends: list[int] = []
        waiting = threading.Thread(target=lambda: ends.append(log.wait(0, soon())))
        waiting.start()
        device.send(b"hello\n")
        waiting.join(DEADLINE)

    assert ends == [1]


def test_waiting_ends_at_the_deadline() -> None:
    """Without a line the end is given as it is."""
    with FakeAdb() as adb, opened(adb) as (log, _):
        end = log.wait(0, time.monotonic() + 0.01)
        past = log.wait(0, time.monotonic() - 1)

    assert (end, past) == (0, 0)


def test_old_lines_make_room() -> None:
    """Positions go on counting when the oldest lines are dropped."""
    with FakeAdb() as adb, opened(adb, capacity=2000) as (log, device):
        device.send(b"".join(b"%04d\n" % number for number in range(1000)))
        end = 0
        while end < 1000:
            end = log.wait(end, soon())
        lines = log.read(0)

    assert 0 < len(lines) < 1000
    assert lines == [b"%04d" % number for number in range(1000 - len(lines), 1000)]


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    """Something that is no log is cut."""
    with FakeAdb() as adb, opened(adb) as (log, device):
        device.send(b"x" * 3_000_000 + b"\n")
        lines = collect(log, 2)

    assert max(map(len, lines)) < 1_300_000


def test_a_logcat_that_died_is_started_again() -> None:
    """Waiting goes on, from the last line's time, without the lines already seen."""
    with FakeAdb() as adb, opened(adb) as (log, device):
        device.send(line(1, "a") + b"\n" + line(5, "b") + b"\n" + line(9, "half a l"))
        collect(log, 2)
        device.close()
        again = adb.next("exec:logcat ")
        again.send(b"".join(entry + b"\n" for entry in (line(5, "b"), line(5, "c"), line(9, "d"))))
        lines = collect(log, 4)

    assert again.service.endswith("-T '03-28 10:00:00.005'")
    assert lines == [line(1, "a"), line(5, "b"), line(5, "c"), line(9, "d")]
    assert log.returns == 0


def test_lost_lines_are_told() -> None:
    """When the last line is gone from the device's log, a notice has the times of the gap."""
    notices: list[str] = []
    with FakeAdb({"exec:log ": NO_LOG_COMMAND}) as adb, nothing_left():
        log = LogStream(adb.server, SERIAL, on_notice=notices.append)
        log.mark()
        device = adb.next("exec:logcat ")
        device.send(line(1, "a") + b"\n")
        collect(log, 1)
        device.close()
        adb.next("exec:logcat ").send(line(700, "z") + b"\n")
        collect(log, 2)
        log.close()

    lost = "lost log lines between 03-28 10:00:00.001 and 03-28 10:00:00.700 (device time)"
    assert notices == [lost]


def test_a_clock_that_was_set_back_costs_one_reading_of_the_log() -> None:
    """What was logged during the break has an earlier time than the last line, and is found."""
    missed, later = line(3, "missed"), line(4, "later")
    whole = b"".join(entry + b"\n" for entry in (line(1, "old"), line(500, "a"), missed))
    set_back = {
        "exec:date ": b"OKAY03-28 09:00:00.000\n",
        "exec:logcat -d -v threadtime": b"OKAY" + whole,
    }
    with FakeAdb(set_back) as adb, opened(adb) as (log, device):
        device.send(line(500, "a") + b"\n")
        collect(log, 1)
        device.close()
        again = adb.next("exec:logcat ")
        again.send(whole + later + b"\n")
        lines = collect(log, 3)

    assert again.service == "exec:logcat -v threadtime -T 2000"
    assert lines == [line(500, "a"), missed, later]
    assert len([each for each in adb.requests if "logcat -d" in each]) == 1


def test_a_device_that_went_back_to_an_earlier_state_begins_a_new_log() -> None:
    """What it had logged by then is no continuation: the time is asked for, and no gap is told."""
    told: list[str] = []
    with FakeAdb({"exec:log ": NO_LOG_COMMAND}) as adb, nothing_left():
        log = LogStream(adb.server, SERIAL, on_notice=told.append)
        log.mark()
        device = adb.next("exec:logcat ")
        device.send(line(1, "a") + b"\n")
        collect(log, 1)
        with log.starting_over():
            device.close()  # as it may, or may not
        log.mark()
        newest = adb.next("exec:logcat ")
        newest.send(line(900, "z") + b"\n")
        lines = collect(log, 2)
        log.close()

    assert lines == [line(1, "a"), line(900, "z")]
    assert "date" in newest.service
    assert told == []


def test_a_stream_that_outlived_the_earlier_state_is_replaced() -> None:
    """A connection from before may never say another word."""
    with FakeAdb({"exec:log ": NO_LOG_COMMAND}) as adb, stream(adb) as log:
        log.mark()
        silent = adb.next("exec:logcat ")
        silent.send(line(1, "a") + b"\n")
        collect(log, 1)

        with log.starting_over():
            pass
        log.mark()

        adb.next("exec:logcat ").send(line(2, "b") + b"\n")
        assert collect(log, 2) == [line(1, "a"), line(2, "b")]


def test_a_listener_that_fails_does_not_end_the_log() -> None:
    """A notice may raise, for example because warnings are errors."""

    def refuse(notice: str) -> None:
        raise UserWarning(notice)

    with FakeAdb({"exec:log ": NO_LOG_COMMAND}) as adb, nothing_left():
        log = LogStream(adb.server, SERIAL, on_notice=refuse)
        log.mark()
        device = adb.next("exec:logcat ")
        device.send(line(1, "a") + b"\n")
        collect(log, 1)
        device.close()
        adb.next("exec:logcat ").send(line(700, "z") + b"\n")
        lines = collect(log, 2)
        log.close()

    assert lines[1] == line(700, "z")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (f"device '{SERIAL}' not found", DeviceNotFoundError),
        ("device offline", DeviceUnavailableError),
        ("device unauthorized.", DeviceUnavailableError),
    ],
)
def test_a_vanished_device_fails_at_once(reason: str, kind: type[Exception]) -> None:
    """Who waits, and who comes later, hears what adb says; the device's return mends it."""
    with FakeAdb() as adb, opened(adb) as (log, device):
        adb.answers["host:transport:"] = failure(reason)
        adb.answers[STATE] = failure(reason)
        device.close()
        with pytest.raises(kind) as caught:
            log.wait(0, soon())
        with pytest.raises(kind):
            log.mark()
        waiting = adb.next(WAIT)
        del adb.answers["host:transport:"]
        adb.answers[STATE] = block("device")
        waiting.send(b"OKAY")
        position = log.mark()
        adb.next("exec:logcat ").send(line(3, "back") + b"\n")
        lines = collect(log, 1)

    assert getattr(caught.value, "serial", None) == SERIAL
    assert position == 0
    assert lines == [line(3, "back")]
    assert log.returns == 1


def test_a_device_that_is_back_need_not_be_noticed_first() -> None:
    """A mark asks adb itself, instead of repeating what was true a moment ago."""
    with FakeAdb() as adb, opened(adb) as (log, device):
        adb.answers["host:transport:"] = failure("device offline")
        device.close()
        with pytest.raises(DeviceUnavailableError):
            log.wait(0, soon())
        waiting = adb.next(WAIT)
        adb.answers[STATE] = block("device")
        del adb.answers["host:transport:"]
        marks: list[int] = []
        marking = threading.Thread(target=lambda: marks.append(log.mark()))
        marking.start()
        assert eventually(lambda: adb.requests.count(STATE) > 0)
        waiting.send(b"OKAY")
        marking.join(DEADLINE)

    assert marks == [0]


def test_a_server_that_cannot_wait_is_asked_again() -> None:
    """Where waiting for the device is refused, the stream tries by itself."""
    with FakeAdb({WAIT: failure("unknown host service")}) as adb, opened(adb) as (log, device):
        adb.answers["host:transport:"] = failure("device offline")
        device.close()
        assert eventually(lambda: adb.requests.count(WAIT) > 2)
        del adb.answers["host:transport:"]
        adb.answers[STATE] = block("device")
        position = log.mark()

    assert position == 0


def test_a_server_that_is_gone_is_told_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets a short chance to come back; then the error names it."""
    monkeypatch.setattr(logcat, "_GRACE", 0.1)
    with FakeAdb() as adb, opened(adb) as (log, _):
        adb.stop()
        with pytest.raises(AdbUnavailableError, match=str(adb.server)):
            log.wait(0, soon())


def test_a_server_that_is_back_need_not_be_noticed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark asks anew, and the stream, which tries only now and then, is opened at once."""
    pauses = iter([0.0])
    monkeypatch.setattr(logcat, "_longer", lambda _: next(pauses, 1000.0))
    monkeypatch.setattr(logcat, "_GRACE", 0.05)
    broken = failure("the server is out of sorts")
    with FakeAdb({WAIT: broken}) as adb, opened(adb) as (log, device):
        adb.answers["host:transport:"] = broken
        device.close()
        with pytest.raises(TransportError, match="out of sorts"):
            log.wait(0, soon())
        del adb.answers["host:transport:"]
        adb.answers[STATE] = block("device")
        position = log.mark()

    assert position == 0


def test_a_server_that_came_back_within_the_grace_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mark does not wait for a resting stream until the grace is over, and fail then."""
    pauses = iter([0.0])
    monkeypatch.setattr(logcat, "_longer", lambda _: next(pauses, 1000.0))
    monkeypatch.setattr(logcat, "_HOPEFUL_PAUSE", 1000.0)
    broken = failure("the server is out of sorts")
    with FakeAdb({WAIT: broken, STATE: block("device")}) as adb, opened(adb) as (log, device):
        adb.answers["host:transport:"] = broken
        device.close()
        assert eventually(lambda: WAIT in adb.requests)
        del adb.answers["host:transport:"]
        position = log.mark()

    assert position == 0


def test_the_first_failure_is_told_at_once() -> None:
    """A stream that never was open has nothing to wait for."""
    offline = {"host:transport:": failure("device offline"), STATE: block("offline")}
    with FakeAdb(offline) as adb, stream(adb) as log:
        with pytest.raises(DeviceUnavailableError):
            log.mark()
        with pytest.raises(DeviceUnavailableError):
            log.mark()


def test_a_device_without_logcat_is_told() -> None:
    """A shell that knows no logcat is no log, however often it is asked."""
    said = b"OKAY/system/bin/sh: logcat: inaccessible or not found\n"

    def use(log: LogStream) -> None:
        log.mark()
        log.wait(100, soon())

    with (
        FakeAdb({"exec:logcat": said, "exec:log ": NO_LOG_COMMAND}) as adb,
        stream(adb) as log,
        pytest.raises(LogcatError, match="logcat: inaccessible or not found") as caught,
    ):
        use(log)

    assert caught.value.code == ErrorCode.LOGCAT_UNAVAILABLE


def test_closing_ends_every_wait() -> None:
    """Who waits on a closed stream is told, and marks are refused from then on."""
    with FakeAdb() as adb, opened(adb) as (log, _):
        caught: list[Exception] = []

        def wait() -> None:
            try:
                log.wait(0, soon())
            except LogcatError as error:
                caught.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        log.close()
        waiting.join(DEADLINE)
        with pytest.raises(LogcatError, match="closed"):
            log.mark()

    assert len(caught) == 1


def test_closing_does_not_need_the_device() -> None:
    """A device that hangs, or that is waited for, keeps nobody."""
    with FakeAdb({WAIT: lambda c: c.send(b"OKAY")}) as adb, opened(adb) as (log, device):
        adb.answers["host:transport:"] = failure("device offline")
        device.close()
        assert eventually(lambda: WAIT in adb.requests)
        log.close()

    with FakeAdb() as adb, opened(adb) as (log, device):
        log.close()
        said = device.wait_for_close()

    assert said == b""


def test_a_stream_that_was_never_used_costs_nothing() -> None:
    """Without a mark nothing is opened and nothing is left to close."""
    with FakeAdb() as adb, stream(adb) as log:
        log.close()
        log.close()

        assert log.read(0) == []
        assert adb.requests == []


def test_an_interrupt_at_any_moment_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of waiting comes out as itself, and the log can be used on."""
    # A clock that goes on by a millisecond a look: on a busy machine, too, each wait is one wait.
    clock = itertools.count(step=0.001).__next__
    errors: list[tuple[type[BaseException], BaseException | None]] = []
    with FakeAdb({"exec:log ": NO_LOG_COMMAND}) as adb:
        log = LogStream(adb.server, SERIAL)
        log.mark()
        monkeypatch.setattr(logcat, "time", SimpleNamespace(monotonic=clock))
        files = ("logcat.py", "threading.py")

        def use() -> None:
            log.read(log.wait(0, clock() + 0.0015))

        def interrupt() -> None:
            for error in interruptions(use, within=files):
                errors.append((type(error), error.__context__))

        # In a thread that can be left alone: a lock that nobody releases would hold us for good.
        interrupting = threading.Thread(target=interrupt, daemon=True)
        interrupting.start()
        interrupting.join(DEADLINE)
        is_stuck = interrupting.is_alive()
        if not is_stuck:
            log.close()

    assert not is_stuck
    assert len(errors) > 10
    assert set(errors) == {(KeyboardInterrupt, None)}


def test_lines_are_read_by_their_numbers() -> None:
    """Numbers count from the beginning; an end is exclusive and may be left out."""
    ring = Ring(10_000)

    ring.append([b"a", b"b"])
    ring.append([b"c"])

    assert ring.end == 3
    assert ring.read(0) == [b"a", b"b", b"c"]
    assert ring.read(1, 2) == [b"b"]
    assert ring.read(3) == []
    assert ring.read(2, 1) == []


def test_the_oldest_lines_go_first() -> None:
    """What is kept fits, is the newest, and keeps its numbers."""
    ring = Ring(10_000)

    for number in range(1000):
        ring.append([b"%04d" % number])

    assert ring.end == 1000
    assert 0 < ring.kept_from < 1000
    assert ring.read(0) == [b"%04d" % number for number in range(ring.kept_from, 1000)]
    assert ring.read(0, ring.kept_from) == []
    assert ring.read(998) == [b"0998", b"0999"]


@given(st.lists(st.lists(st.binary(max_size=300), max_size=20)), st.integers(0, 5000))
def test_no_line_is_lost_or_moved(chunks: list[list[bytes]], capacity: int) -> None:
    """Whatever is appended, what is kept is the end of it."""
    ring = Ring(capacity)
    everything: list[bytes] = []

    for chunk in chunks:
        ring.append(chunk)
        everything += chunk

        assert ring.end == len(everything)
        assert ring.read(0) == everything[ring.kept_from :]
        assert sum(map(len, ring.read(0))) <= capacity


WAKEUP_DEADLINE = 20.0


def test_a_wakeup_wakes_all_who_wait() -> None:
    """Each waiter's lock can be acquired after the wakeup, and not before."""
    wakeup = Wakeup()
    waiters = [wakeup.waiter(), wakeup.waiter()]

    before = [waiter.acquire(blocking=False) for waiter in waiters]
    wakeup.wake_all()
    after = [waiter.acquire(timeout=WAKEUP_DEADLINE) for waiter in waiters]

    assert before == [False, False]
    assert after == [True, True]


def test_each_wakeup_is_for_those_who_wait_then() -> None:
    """A second wakeup leaves those of the first alone, and wakes those who came since."""
    wakeup = Wakeup()
    first = wakeup.waiter()
    wakeup.wake_all()

    second = wakeup.waiter()
    early = second.acquire(blocking=False)
    wakeup.wake_all()

    assert not early
    assert first.acquire(blocking=False)
    assert second.acquire(blocking=False)


class Unlucky(threading.Thread):
    """A thread whose start fails in a given way."""

    def __init__(self, cause: BaseException | None) -> None:
        super().__init__()
        self._cause = cause

    def start(self) -> None:
        """Fail as an event does: while it handles an error, there is another one."""
        if self._cause is None:
            raise RuntimeError("can't start new thread")
        try:
            raise self._cause
        finally:
            threading.Lock().release()


def test_an_interrupted_start_is_an_interrupt() -> None:
    """What the interrupt did to the locks of `Thread` is not what the user is told."""
    with pytest.raises(KeyboardInterrupt) as caught:
        start_thread(Unlucky(KeyboardInterrupt()))

    assert caught.value.__suppress_context__


def test_a_thread_that_cannot_be_started_raises_its_error() -> None:
    """An error that no interrupt caused stays what it is."""
    with pytest.raises(RuntimeError, match="can't start new thread"):
        start_thread(Unlucky(None))
