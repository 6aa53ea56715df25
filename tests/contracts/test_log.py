"""Lines of the device's log are read in the format that logcat is asked for."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.log import (
    PIECE_LENGTH,
    TIME_LENGTH,
    LogEntry,
    is_divider,
    is_log_line,
    message_filter,
    messages_of_tag_format,
    parse_log_line,
    time_of,
)

LINE = b"03-28 10:00:00.000  1234  5678 I Tag     : [Result] it's: done"
DIVIDER = b"--------- beginning of main"
COMPLAINT = b"/system/bin/sh: logcat: inaccessible or not found"


def test_a_line_is_taken_apart() -> None:
    """Process, thread, priority, tag without its padding, and the message as it is."""
    assert parse_log_line(LINE) == LogEntry(1234, 5678, "I", "Tag", "[Result] it's: done")


@pytest.mark.parametrize(
    ("line", "tag", "message"),
    [
        (b"03-28 10:00:00.000     1     2 D T: ", "T", ""),
        (b"03-28 10:00:00.000     1     2 D T:", "T", ""),
        (b"03-28 10:00:00.000     1     2 D a b : c", "a b", "c"),
        (b"03-28 10:00:00.000     1     2 D T: a\rb", "T", "a\rb"),
        (b"03-28 10:00:00.000     1     2 D T: \xff", "T", "�"),
    ],
)
def test_odd_tags_and_messages_are_kept(line: bytes, tag: str, message: str) -> None:
    """A message may be empty, hold a line break or broken text; a tag may hold blanks."""
    entry = parse_log_line(line)

    assert entry is not None
    assert (entry.tag, entry.message) == (tag, message)


@pytest.mark.parametrize("line", [DIVIDER, COMPLAINT, b"", LINE[5:], LINE[:20]])
def test_what_is_no_entry_is_none(line: bytes) -> None:
    """Dividers, complaints of the shell and pieces of lines are no entries."""
    assert parse_log_line(line) is None


def test_what_logcat_prints_is_told_from_complaints_of_the_shell() -> None:
    """Entries and dividers come from logcat; anything else does not."""
    lines = [LINE, DIVIDER, COMPLAINT, b""]

    assert [is_log_line(line) for line in lines] == [True, True, False, False]
    assert [is_divider(line) for line in lines] == [False, True, False, False]


def test_the_time_of_a_line_is_what_it_begins_with() -> None:
    """The time has the length that is cut off elsewhere; a divider has none."""
    assert time_of(LINE) == LINE[:TIME_LENGTH] == b"03-28 10:00:00.000"
    assert time_of(DIVIDER) is None


def test_lines_of_one_message_have_one_source() -> None:
    """The thread does not count, the process, the priority and the tag do."""
    entry = LogEntry(1, 2, "I", "T", "a")

    assert entry.source == entry._replace(tid=3, message="b").source
    assert entry.source != entry._replace(pid=3).source


@pytest.mark.parametrize(
    ("message", "is_cut"),
    [("x" * PIECE_LENGTH, True), ("x" * (PIECE_LENGTH - 1), False), ("😀" * 2000, True)],
)
def test_a_message_of_full_length_was_cut(message: str, is_cut: bool) -> None:
    """The logger's pieces are counted in UTF-16 units."""
    assert LogEntry(1, 2, "D", "T", message).is_cut == is_cut


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        (LINE, True),
        (LINE.replace(b" I ", b" E "), True),
        (LINE.replace(b" I ", b" D "), False),
        (LINE.replace(b"[Result]", b"Result"), False),
        (LINE.replace(b"[Result]", b"FATAL 7"), True),
    ],
)
def test_the_filter_lets_through_what_begins_as_asked(line: bytes, passes: bool) -> None:
    """Both the priority and the beginning of the message must fit."""
    wanted = message_filter(b"IE", rb"\[Result\]", rb"FATAL \d")

    assert (wanted.match(line) is not None) == passes


def test_the_barest_format_yields_messages_without_their_tags() -> None:
    """One blank after the tag goes; a line without a tag is trimmed; empty ones are left out."""
    text = "D/Tag:  a: b\n\n  plain \nE/x:\nI/y: z"

    assert list(messages_of_tag_format(text)) == [" a: b", "plain", "z"]
