"""Going on after a break: nothing twice, nothing left out, and a gap is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.transport.logcat import Continuation, Gap, following, is_set_back

DIVIDER = b"--------- beginning of main"


def line(milliseconds: int, text: str) -> bytes:
    """Write a log line of a moment."""
    return f"03-28 10:00:00.{milliseconds:03d}  42  42 I tag     : {text}".encode()


def test_a_log_without_lines_has_nothing_to_resume() -> None:
    """Then there is no time to ask for."""
    continuation = Continuation([DIVIDER, b"sh: logcat: not found"])

    assert continuation.since is None
    assert continuation.over


def test_the_last_time_is_asked_for() -> None:
    """Dividers after it do not hide it."""
    continuation = Continuation([line(1, "a"), line(7, "b"), DIVIDER])

    assert continuation.since == b"03-28 10:00:00.007"
    assert not continuation.over


def test_lines_seen_are_left_out() -> None:
    """Those of the last moment come again, those after it are new."""
    continuation = Continuation([line(1, "a"), line(7, "b"), line(7, "c")])

    fresh = continuation.unseen([DIVIDER, line(7, "b"), line(7, "c"), line(7, "d"), line(8, "e")])

    assert fresh == [line(7, "d"), line(8, "e")]
    assert continuation.over
    assert continuation.gap is None


def test_equal_lines_are_counted() -> None:
    """Of three equal lines two were seen, so one is new."""
    continuation = Continuation([line(7, "x"), line(7, "x")])

    fresh = continuation.unseen([line(7, "x"), line(7, "x"), line(7, "x")])

    assert fresh == [line(7, "x")]


def test_lines_out_of_order_are_known_again() -> None:
    """A later time that was seen before the last line is not taken for new."""
    continuation = Continuation([line(9, "late"), line(7, "early")])

    replayed = [line(7, "early"), line(9, "late"), line(9, "new"), line(10, "next")]
    fresh = continuation.unseen(replayed)

    assert fresh == [line(9, "new"), line(10, "next")]


def test_it_goes_on_over_several_reads() -> None:
    """The lines of the last moment may come in pieces."""
    continuation = Continuation([line(7, "a"), line(7, "b")])

    first = continuation.unseen([line(7, "a")])
    second = continuation.unseen([line(7, "b"), line(7, "c")])

    assert (first, second) == ([], [line(7, "c")])
    assert not continuation.over


def test_a_last_line_that_is_gone_means_a_gap() -> None:
    """The device no longer has it, so it also lost what followed."""
    continuation = Continuation([line(7, "a")])

    fresh = continuation.unseen([line(300, "z")])

    assert fresh == [line(300, "z")]
    assert continuation.gap == Gap("03-28 10:00:00.007", "03-28 10:00:00.300")
    assert str(continuation.gap) == (
        "lost log lines between 03-28 10:00:00.007 and 03-28 10:00:00.300 (device time)"
    )


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abc")), min_size=1),
    st.data(),
)
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
    ("now", "newest", "last", "elapsed", "expected"),
    [
        ("10:00:05", "10:00:00", "10:00:00", 5.0, False),
        ("10:00:04", "10:00:00", "10:00:00", 5.0, False),
        ("11:00:05", "10:00:00", "10:00:00", 5.0, False),
        ("09:00:05", "10:00:00", "10:00:00", 5.0, True),
        ("10:00:10", "10:00:00", "10:00:00", 60.0, True),
        ("10:00:05", "11:00:00", "10:00:00", 5.0, True),
        ("10:00:05", "10:00:01", "10:00:00", 5.0, False),
    ],
    ids=[
        *("in time", "whole seconds", "set forward", "set back"),
        *("set back by less than the break", "set back before", "out of order"),
    ],
)
def test_a_clock_that_was_set_back_is_noticed(
    now: str, newest: str, last: str, elapsed: float, expected: bool
) -> None:
    """It shows less than the last line's time and what went by since, or lines show more."""
    assert is_set_back(at(now), at(newest), at(last), elapsed=elapsed) is expected


@pytest.mark.parametrize("now", [b"", b"sh: date: not found", b"99-99 10:00:00.000", b"\xff"])
def test_a_device_without_a_clock_is_not_set_back(now: bytes) -> None:
    """What cannot be read tells nothing."""
    assert not is_set_back(now, at("10:00:00"), at("10:00:00"), elapsed=99.0)


def test_new_lines_are_found_whatever_their_time() -> None:
    """Lines before the known ones are old, all others are new, even if their time is earlier."""
    tail = [line(500, "a"), line(600, "b"), line(600, "b")]
    log = [DIVIDER, line(1, "old"), line(500, "a"), line(600, "b"), line(2, "c"), line(600, "b")]

    fresh, gap = following(tail, [*log, line(3, "d")])

    assert fresh == [line(2, "c"), line(3, "d")]
    assert gap is None


def test_a_log_without_the_known_lines_means_a_gap() -> None:
    """Then all of it is new, and what was in between is lost."""
    fresh, gap = following([line(500, "a"), DIVIDER], [DIVIDER, line(2, "c")])

    assert fresh == [line(2, "c")]
    assert gap == Gap("03-28 10:00:00.500", "03-28 10:00:00.002")


def test_what_was_read_with_the_whole_log_does_not_come_again() -> None:
    """Neither lines from before the clock was set back nor those after it."""
    log = [line(500, "a"), line(2, "c"), b""]
    continuation = Continuation.after(log)

    fresh = continuation.unseen([DIVIDER, line(500, "a"), line(2, "c"), line(2, "d"), line(3, "e")])

    assert fresh == [line(2, "d"), line(3, "e")]
    assert continuation.over
    assert continuation.gap is None
    assert (continuation.since, continuation.entries) == (None, 2000)


def test_an_empty_log_has_nothing_that_could_come_again() -> None:
    """Somebody cleared it: what comes is new."""
    continuation = Continuation.after([b""])

    assert continuation.unseen([line(1, "a")]) == [line(1, "a")]
