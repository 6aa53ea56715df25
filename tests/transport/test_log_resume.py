"""Going on after a break: nothing twice, nothing left out, and a gap is told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.transport.log_resume import Gap, Resume, is_log_line

DIVIDER = b"--------- beginning of main"


def line(milliseconds: int, text: str) -> bytes:
    """Write a log line of a moment."""
    return f"03-28 10:00:00.{milliseconds:03d}  42  42 I tag     : {text}".encode()


def test_a_log_without_lines_has_nothing_to_resume() -> None:
    """Then there is no time to ask for."""
    resume = Resume([DIVIDER, b"sh: logcat: not found"])

    assert resume.since is None
    assert resume.over


def test_the_last_time_is_asked_for() -> None:
    """Dividers after it do not hide it."""
    resume = Resume([line(1, "a"), line(7, "b"), DIVIDER])

    assert resume.since == b"03-28 10:00:00.007"
    assert not resume.over


def test_lines_seen_are_left_out() -> None:
    """Those of the last moment come again, those after it are new."""
    resume = Resume([line(1, "a"), line(7, "b"), line(7, "c")])

    fresh = resume.unseen([DIVIDER, line(7, "b"), line(7, "c"), line(7, "d"), line(8, "e")])

    assert fresh == [line(7, "d"), line(8, "e")]
    assert resume.over
    assert resume.gap is None


def test_equal_lines_are_counted() -> None:
    """Of three equal lines two were seen, so one is new."""
    resume = Resume([line(7, "x"), line(7, "x")])

    fresh = resume.unseen([line(7, "x"), line(7, "x"), line(7, "x")])

    assert fresh == [line(7, "x")]


def test_lines_out_of_order_are_known_again() -> None:
    """A later time that was seen before the last line is not taken for new."""
    resume = Resume([line(9, "late"), line(7, "early")])

    fresh = resume.unseen([line(7, "early"), line(9, "late"), line(9, "new"), line(10, "next")])

    assert fresh == [line(9, "new"), line(10, "next")]


def test_it_goes_on_over_several_reads() -> None:
    """The lines of the last moment may come in pieces."""
    resume = Resume([line(7, "a"), line(7, "b")])

    first = resume.unseen([line(7, "a")])
    second = resume.unseen([line(7, "b"), line(7, "c")])

    assert (first, second) == ([], [line(7, "c")])
    assert not resume.over


def test_a_last_line_that_is_gone_means_a_gap() -> None:
    """The device no longer has it, so it also lost what followed."""
    resume = Resume([line(7, "a")])

    fresh = resume.unseen([line(300, "z")])

    assert fresh == [line(300, "z")]
    assert resume.gap == Gap("03-28 10:00:00.007", "03-28 10:00:00.300")
    assert str(resume.gap) == (
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
    resume = Resume(log[:cut])

    since = resume.since or b""
    replayed = [entry for entry in log if entry[:18] >= since]
    fresh = replayed if resume.over else resume.unseen(replayed)

    assert sorted(log[:cut] + fresh) == sorted(log)
    assert resume.gap is None


def test_what_logcat_prints_is_known() -> None:
    """The shell's complaints are no log."""
    assert is_log_line(line(1, "x"))
    assert is_log_line(DIVIDER)
    assert not is_log_line(b"/system/bin/sh: logcat: inaccessible or not found")
