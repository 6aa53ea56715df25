"""The log stream against a scripted server: lines, positions, breaks and returns."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport import logcat
from pytest_clawperator.transport.logcat import Continuation, LogStream
from tests.doubles.adb_server import (
    DEADLINE,
    SERIAL,
    Answer,
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
def stream(adb: FakeAdb, **options: Any) -> Iterator[LogStream]:
    """Yield a stream that is closed in the end and leaves nothing behind."""
    with nothing_left():
        log = LogStream(adb.server, SERIAL, **options)
        try:
            yield log
        finally:
            log.close()


@contextmanager
def opened(adb: FakeAdb, **options: Any) -> Iterator[tuple[LogStream, Conversation]]:
    """Yield an open stream and the device's side of it."""
    adb.answers.setdefault("exec:log ", NO_LOG_COMMAND)
    with stream(adb, **options) as log:
        log.mark()
        yield log, adb.next("exec:logcat -v threadtime -T ")


@contextmanager
def fallen_silent(adb: FakeAdb, reason: str) -> Iterator[LogStream]:
    """Yield a stream that has just ended, and that cannot be opened again for a reason."""
    with opened(adb) as (log, device):
        adb.answers["host:transport:"] = failure(reason)
        device.close()
        yield log


def bring_back(adb: FakeAdb) -> None:
    """Let the device, or the server, answer again."""
    del adb.answers["host:transport:"]
    adb.answers[STATE] = block("device")


def send(device: Conversation, *lines: bytes) -> None:
    """Send whole lines."""
    device.send(b"".join(each + b"\n" for each in lines))


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


def test_a_line_that_does_not_come_through_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream starts again from now; a device without a log command is trusted."""
    with FakeAdb({"exec:log ": NO_LOG_COMMAND}) as adb, stream(adb) as log:
        assert log.mark() == 0
    monkeypatch.setattr(logcat, "_OPEN_DEADLINE", 0.2)
    with FakeAdb({"exec:log ": b"OKAY0\n"}) as adb, stream(adb) as log:
        with pytest.raises(errors.LogcatError, match="did not come through") as caught:
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


def test_waiting_ends_with_a_line_or_at_the_deadline() -> None:
    """A wait at a position is woken by the line that comes there."""
    with FakeAdb() as adb, opened(adb) as (log, device):
        ends = [log.wait(0, time.monotonic() + delay) for delay in (0.01, -1)]
        waiting = threading.Thread(target=lambda: ends.append(log.wait(0, soon())))
        waiting.start()
        send(device, b"hello")
        waiting.join(DEADLINE)

    assert ends == [0, 0, 1]


def test_the_memory_is_bounded() -> None:
    """Positions go on counting when the oldest lines are dropped; an endless line is cut."""
    with FakeAdb() as adb, opened(adb, capacity=2000) as (log, device):
        device.send(b"".join(b"%04d\n" % number for number in range(1000)))
        end = 0
        while end < 1000:
            end = log.wait(end, soon())
        lines = log.read(0)
    with FakeAdb() as adb, opened(adb) as (log, device):
        send(device, b"x" * 3_000_000)
        pieces = collect(log, 2)

    assert 0 < len(lines) < 1000
    assert lines == [b"%04d" % number for number in range(1000 - len(lines), 1000)]
    assert max(map(len, pieces)) < 1_300_000


def test_a_logcat_that_died_is_started_again() -> None:
    """Waiting goes on, from the last line's time, without the lines already seen."""
    with FakeAdb() as adb, opened(adb) as (log, device):
        device.send(line(1, "a") + b"\n" + line(5, "b") + b"\n" + line(9, "half a l"))
        collect(log, 2)
        device.close()
        again = adb.next("exec:logcat ")
        send(again, line(5, "b"), line(5, "c"), line(9, "d"))
        lines = collect(log, 4)

    assert again.service.endswith("-T '03-28 10:00:00.005'")
    assert lines == [line(1, "a"), line(5, "b"), line(5, "c"), line(9, "d")]
    assert log.returns == 0


def test_lost_lines_are_reported() -> None:
    """The notice has the times of the gap; a listener that raises does not end the log."""
    notices: list[str] = []

    def note_and_raise(notice: str) -> None:
        notices.append(notice)
        raise UserWarning(notice)  # as if warnings were errors

    with FakeAdb() as adb, opened(adb, on_notice=note_and_raise) as (log, device):
        send(device, line(1, "a"))
        collect(log, 1)
        device.close()
        send(adb.next("exec:logcat "), line(700, "z"))
        lines = collect(log, 2)

    lost = "lost log lines between 03-28 10:00:00.001 and 03-28 10:00:00.700 (device time)"
    assert notices == [lost]
    assert lines[1] == line(700, "z")


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


@pytest.mark.parametrize("breaks", [True, False])
def test_a_device_that_was_restored_begins_a_new_log(*, breaks: bool) -> None:
    """The time is asked for, no gap is reported, and a connection from before is replaced."""
    notices: list[str] = []
    with FakeAdb() as adb, opened(adb, on_notice=notices.append) as (log, device):
        send(device, line(1, "a"))
        collect(log, 1)
        with log.starting_over():
            if breaks:
                device.close()
        log.mark()
        newest = adb.next("exec:logcat ")
        send(newest, line(900, "z"))
        lines = collect(log, 2)

    assert lines == [line(1, "a"), line(900, "z")]
    assert "date" in newest.service
    assert notices == []


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (f"device '{SERIAL}' not found", errors.DeviceNotFoundError),
        ("device offline", errors.DeviceUnavailableError),
        ("device unauthorized.", errors.DeviceUnavailableError),
    ],
)
def test_a_vanished_device_fails_immediately(reason: str, kind: type[Exception]) -> None:
    """Until the device is back, waiting and marking raise adb's error."""
    with FakeAdb({STATE: failure(reason)}) as adb, fallen_silent(adb, reason) as log:
        with pytest.raises(kind) as caught:
            log.wait(0, soon())
        with pytest.raises(kind):
            log.mark()
        waiting = adb.next(WAIT)
        bring_back(adb)
        waiting.send(b"OKAY")
        position = log.mark()
        send(adb.next("exec:logcat "), line(3, "back"))
        lines = collect(log, 1)

    assert getattr(caught.value, "serial", None) == SERIAL
    assert position == 0
    assert lines == [line(3, "back")]
    assert log.returns == 1


def test_a_mark_notices_a_device_that_is_back() -> None:
    """It asks adb, instead of repeating what was true a moment ago."""
    with FakeAdb() as adb, fallen_silent(adb, "device offline") as log:
        with pytest.raises(errors.DeviceUnavailableError):
            log.wait(0, soon())
        waiting = adb.next(WAIT)
        bring_back(adb)
        marks: list[int] = []
        marking = threading.Thread(target=lambda: marks.append(log.mark()))
        marking.start()
        assert eventually(lambda: adb.requests.count(STATE) > 0)
        waiting.send(b"OKAY")
        marking.join(DEADLINE)

    assert marks == [0]


def test_a_server_that_cannot_wait_is_asked_again() -> None:
    """If waiting for the device is refused, the stream tries by itself."""
    answers = {WAIT: failure("unknown host service")}
    with FakeAdb(answers) as adb, fallen_silent(adb, "device offline") as log:
        assert eventually(lambda: adb.requests.count(WAIT) > 2)
        bring_back(adb)

        assert log.mark() == 0


def test_a_server_that_is_gone_is_reported_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets a short chance to come back; then the error names it."""
    monkeypatch.setattr(logcat, "_GRACE", 0.1)
    with FakeAdb() as adb, opened(adb) as (log, _):
        adb.stop()
        with pytest.raises(errors.AdbUnavailableError, match=str(adb.server)):
            log.wait(0, soon())


@pytest.mark.parametrize("is_within_grace", [False, True])
def test_a_mark_notices_a_server_that_is_back(
    monkeypatch: pytest.MonkeyPatch, *, is_within_grace: bool
) -> None:
    """It does not wait for the stream, which tries only now and then."""
    pauses = iter([0.0])
    monkeypatch.setattr(logcat, "_longer", lambda _: next(pauses, 1000.0))
    reason = "the server is out of sorts"
    if is_within_grace:
        monkeypatch.setattr(logcat, "_HOPEFUL_PAUSE", 1000.0)
    else:
        monkeypatch.setattr(logcat, "_GRACE", 0.05)
    answers = {WAIT: failure(reason), STATE: block("device")}
    with FakeAdb(answers) as adb, fallen_silent(adb, reason) as log:
        if is_within_grace:
            assert eventually(lambda: WAIT in adb.requests)
        else:
            with pytest.raises(errors.TransportError, match="out of sorts"):
                log.wait(0, soon())
        bring_back(adb)

        assert log.mark() == 0


def test_the_first_failure_is_raised_immediately() -> None:
    """A stream that was never open has nothing to wait for; a shell without logcat has no log."""
    offline = {"host:transport:": failure("device offline"), STATE: block("offline")}
    with FakeAdb(offline) as adb, stream(adb) as log:
        for _ in range(2):
            with pytest.raises(errors.DeviceUnavailableError):
                log.mark()
    output = b"OKAY/system/bin/sh: logcat: inaccessible or not found\n"

    def use(log: LogStream) -> None:
        log.mark()
        log.wait(100, soon())

    with (
        FakeAdb({"exec:logcat": output, "exec:log ": NO_LOG_COMMAND}) as adb,
        stream(adb) as log,
        pytest.raises(errors.LogcatError, match="logcat: inaccessible or not found") as caught,
    ):
        use(log)

    assert caught.value.code == ErrorCode.LOGCAT_UNAVAILABLE


def test_closing_ends_every_wait() -> None:
    """A wait on a closed stream raises, and marks are refused from then on."""
    with FakeAdb() as adb, opened(adb) as (log, _):
        caught: list[Exception] = []

        def wait() -> None:
            try:
                log.wait(0, soon())
            except errors.LogcatError as error:
                caught.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        log.close()
        waiting.join(DEADLINE)
        with pytest.raises(errors.LogcatError, match="closed"):
            log.mark()

    assert len(caught) == 1


def test_closing_does_not_need_the_device() -> None:
    """Neither a device that hangs nor one that is waited for delays it; unused, it is free."""
    answers: dict[str, Answer] = {WAIT: lambda conversation: conversation.send(b"OKAY")}
    with FakeAdb(answers) as adb, fallen_silent(adb, "device offline") as log:
        assert eventually(lambda: WAIT in adb.requests)
        log.close()
    with FakeAdb() as adb, opened(adb) as (log, device):
        log.close()
        assert device.wait_for_close() == b""
    with FakeAdb() as adb, stream(adb) as log:
        log.close()
        log.close()

        assert log.read(0) == []
        assert adb.requests == []


def test_an_interrupt_at_any_moment_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of waiting comes out as itself, and the log can be used on."""
    # A clock that moves with each reading: on a busy machine, too, each wait is one wait.
    clock = itertools.count(step=0.001).__next__
    raised: list[tuple[type[BaseException], BaseException | None]] = []
    with FakeAdb({"exec:log ": NO_LOG_COMMAND}) as adb:
        log = LogStream(adb.server, SERIAL)
        log.mark()
        monkeypatch.setattr(logcat, "time", SimpleNamespace(monotonic=clock))
        files = ("logcat.py", "threading.py")

        def use() -> None:
            log.read(log.wait(0, clock() + 0.0015))

        def interrupt() -> None:
            for error in interruptions(use, within=files):
                raised.append((type(error), error.__context__))

        # In a thread that can be left alone: a lock that is not released would block for ever.
        interrupting = threading.Thread(target=interrupt, daemon=True)
        interrupting.start()
        interrupting.join(DEADLINE)
        is_stuck = interrupting.is_alive()
        if not is_stuck:
            log.close()

    assert not is_stuck
    assert len(raised) > 10
    assert set(raised) == {(KeyboardInterrupt, None)}


def test_lines_are_read_by_their_numbers() -> None:
    """Numbers count from the beginning, an end is exclusive; the oldest lines go first."""
    ring, full = logcat.Ring(10_000), logcat.Ring(10_000)

    ring.append([b"a", b"b"])
    ring.append([b"c"])
    for number in range(1000):
        full.append([b"%04d" % number])

    assert ring.end == 3
    assert ring.read(0) == [b"a", b"b", b"c"]
    assert ring.read(1, 2) == [b"b"]
    assert ring.read(3) == ring.read(2, 1) == []
    assert full.end == 1000
    assert 0 < full.kept_from < 1000
    assert full.read(0) == [b"%04d" % number for number in range(full.kept_from, 1000)]
    assert full.read(0, full.kept_from) == []
    assert full.read(998) == [b"0998", b"0999"]


@given(st.lists(st.lists(st.binary(max_size=300), max_size=20)), st.integers(0, 5000))
def test_no_line_is_lost_or_moved(chunks: list[list[bytes]], capacity: int) -> None:
    """Whatever is appended, what is kept is the end of it."""
    ring = logcat.Ring(capacity)
    everything: list[bytes] = []

    for chunk in chunks:
        ring.append(chunk)
        everything += chunk

        assert ring.end == len(everything)
        assert ring.read(0) == everything[ring.kept_from :]
        assert sum(map(len, ring.read(0))) <= capacity


def test_a_wakeup_wakes_the_current_waiters() -> None:
    """Each waiter's lock can be acquired after the wakeup, and not before."""
    wakeup = logcat.Wakeup()
    waiters = [wakeup.waiter(), wakeup.waiter()]

    before = [waiter.acquire(blocking=False) for waiter in waiters]
    wakeup.wake_all()
    late = wakeup.waiter()
    early = late.acquire(blocking=False)
    wakeup.wake_all()

    assert [*before, early] == [False] * 3
    assert [waiter.acquire(timeout=DEADLINE) for waiter in (*waiters, late)] == [True] * 3


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


def test_an_interrupted_start_of_a_thread_is_an_interrupt() -> None:
    """Damage to the locks of ``Thread`` is not what is raised; another error stays what it is."""
    with pytest.raises(KeyboardInterrupt) as caught:
        logcat.start_thread(Unlucky(KeyboardInterrupt()))
    with pytest.raises(RuntimeError, match="can't start new thread"):
        logcat.start_thread(Unlucky(None))

    assert caught.value.__suppress_context__


DIVIDER = b"--------- beginning of main"


@pytest.mark.parametrize(
    ("seen", "replayed", "fresh", "over"),
    [
        # Lines of the last moment come again, those after it are new.
        (
            [line(1, "a"), line(7, "b"), line(7, "c"), DIVIDER],
            [[DIVIDER, line(7, "b"), line(7, "c"), line(7, "d"), line(8, "e")]],
            [line(7, "d"), line(8, "e")],
            True,
        ),
        # Of three equal lines two were seen, so one is new.
        ([line(7, "x")] * 2, [[line(7, "x")] * 3], [line(7, "x")], False),
        # A later time that was seen before the last line is not new.
        (
            [line(9, "late"), line(7, "early")],
            [[line(7, "early"), line(9, "late"), line(9, "new"), line(10, "next")]],
            [line(9, "new"), line(10, "next")],
            True,
        ),
        # The lines of the last moment may come in pieces.
        (
            [line(7, "a"), line(7, "b")],
            [[line(7, "a")], [line(7, "b"), line(7, "c")]],
            [line(7, "c")],
            False,
        ),
    ],
)
def test_lines_seen_before_a_break_are_left_out(
    seen: list[bytes], replayed: list[list[bytes]], fresh: list[bytes], over: bool
) -> None:
    """The last line's time is asked for, and nothing comes twice."""
    continuation = Continuation(seen)

    assert continuation.since == b"03-28 10:00:00.007"
    assert not continuation.over
    assert [each for read in replayed for each in continuation.unseen(read)] == fresh
    assert continuation.over is over
    assert continuation.gap is None


def test_a_last_line_that_is_gone_means_a_gap() -> None:
    """The device lost what followed it; a log without lines has nothing to resume."""
    continuation, empty = Continuation([line(7, "a")]), Continuation([DIVIDER, b"sh: not found"])

    assert continuation.unseen([line(300, "z")]) == [line(300, "z")]
    assert continuation.gap == logcat.Gap("03-28 10:00:00.007", "03-28 10:00:00.300")
    assert str(continuation.gap) == (
        "lost log lines between 03-28 10:00:00.007 and 03-28 10:00:00.300 (device time)"
    )
    assert empty.since is None
    assert empty.over


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abc")), min_size=1), st.data())
def test_a_break_anywhere_loses_and_doubles_nothing(
    entries: list[tuple[int, str]], data: st.DataObject
) -> None:
    """For every log and every place to break it, the two halves make the whole."""
    log = [line(*entry) for entry in sorted(entries, key=lambda entry: entry[0])]
    cut = data.draw(st.integers(0, len(log)))
    continuation = Continuation(log[:cut])

    since = continuation.since or b""
    replayed = [entry for entry in log if entry[:18] >= since]
    fresh = replayed if continuation.over else continuation.unseen(replayed)

    assert sorted(log[:cut] + fresh) == sorted(log)
    assert continuation.gap is None


def at(clock: str) -> bytes:
    """Return a time of the log."""
    return f"03-28 {clock}.000".encode()


@pytest.mark.parametrize(
    ("now", "newest", "elapsed", "expected"),
    [
        (at("10:00:05"), "10:00:00", 5.0, False),
        (at("10:00:04"), "10:00:00", 5.0, False),
        (at("11:00:05"), "10:00:00", 5.0, False),
        (at("09:00:05"), "10:00:00", 5.0, True),
        (at("10:00:10"), "10:00:00", 60.0, True),
        (at("10:00:05"), "11:00:00", 5.0, True),
        (at("10:00:05"), "10:00:01", 5.0, False),
        *(
            (unreadable, "10:00:00", 99.0, False)
            for unreadable in (b"", b"sh: date: not found", b"99-99 10:00:00.000", b"\xff")
        ),
    ],
    ids=[
        *("in time", "whole seconds", "set forward", "set back"),
        *("set back by less than the break", "set back before", "out of order"),
        *("empty", "not found", "no date", "no text"),
    ],
)
def test_a_clock_that_was_set_back_is_noticed(
    now: bytes, newest: str, elapsed: float, expected: bool
) -> None:
    """It shows less than the last line's time and what went by since, or lines show more."""
    assert logcat.is_set_back(now, at(newest), at("10:00:00"), elapsed=elapsed) is expected


def test_after_a_clock_was_set_back_new_lines_are_found_in_the_whole_log() -> None:
    """Lines after the known ones are new, whatever their time; without those, there is a gap."""
    tail = [line(500, "a"), line(600, "b"), line(600, "b")]
    log = [DIVIDER, line(1, "old"), line(500, "a"), line(600, "b"), line(2, "c"), line(600, "b")]

    assert logcat.following(tail, [*log, line(3, "d")]) == ([line(2, "c"), line(3, "d")], None)
    assert logcat.following([line(500, "a"), DIVIDER], [DIVIDER, line(2, "c")]) == (
        [line(2, "c")],
        logcat.Gap("03-28 10:00:00.500", "03-28 10:00:00.002"),
    )


def test_lines_read_with_the_whole_log_do_not_come_again() -> None:
    """Neither lines from before the clock was set back nor those after; after none, all are new."""
    continuation = Continuation.after([line(500, "a"), line(2, "c"), b""])

    fresh = continuation.unseen([DIVIDER, line(500, "a"), line(2, "c"), line(2, "d"), line(3, "e")])

    assert fresh == [line(2, "d"), line(3, "e")]
    assert continuation.over
    assert continuation.gap is None
    assert (continuation.since, continuation.entries) == (None, 2000)
    assert Continuation.after([b""]).unseen([line(1, "a")]) == [line(1, "a")]
