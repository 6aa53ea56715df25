"""Lines of the device's log are read in the format that logcat is asked for."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts import log
from pytest_clawperator.contracts.log import LogEntry

LINE = b"03-28 10:00:00.000  1234  5678 I Tag     : [Result] it's: done"
DIVIDER = b"--------- beginning of main"
COMPLAINT = b"/system/bin/sh: logcat: inaccessible or not found"


def test_a_line_is_taken_apart() -> None:
    """A message may be empty, hold a line break or broken text; a tag may hold blanks."""
    assert log.parse_log_line(LINE) == LogEntry(1234, 5678, "I", "Tag", "[Result] it's: done")
    for rest, tag, message in (
        (b"T: ", "T", ""),
        (b"T:", "T", ""),
        (b"a b : c", "a b", "c"),
        (b"T: a\rb", "T", "a\rb"),
        (b"T: \xff", "T", "�"),
    ):
        entry = log.parse_log_line(b"03-28 10:00:00.000     1     2 D " + rest)
        assert entry == LogEntry(1, 2, "D", tag, message)
    for line in (DIVIDER, COMPLAINT, b"", LINE[5:], LINE[:20]):
        assert log.parse_log_line(line) is None


def test_entries_and_dividers_come_from_logcat() -> None:
    """A complaint of the shell is neither; a line begins with its time, a divider has none."""
    lines = [LINE, DIVIDER, COMPLAINT, b""]

    assert [log.is_log_line(line) for line in lines] == [True, True, False, False]
    assert [log.is_divider(line) for line in lines] == [False, True, False, False]
    assert log.time_of(LINE) == LINE[: log.TIME_LENGTH] == b"03-28 10:00:00.000"
    assert log.time_of(DIVIDER) is None


def test_pieces_of_one_message_have_one_source_and_full_length() -> None:
    """The thread does not count as source; pieces are measured in UTF-16 units."""
    entry = LogEntry(1, 2, "I", "T", "a")

    assert entry.source == entry._replace(tid=3, message="b").source
    assert entry.source != entry._replace(pid=3).source
    messages = ("x" * log.PIECE_LENGTH, "x" * (log.PIECE_LENGTH - 1), "😀" * 2000)
    assert [entry._replace(message=text).is_cut for text in messages] == [True, False, True]


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
    wanted = log.message_filter(b"IE", rb"\[Result\]", rb"FATAL \d")

    assert (wanted.match(line) is not None) == passes


def test_the_barest_format_yields_messages_without_their_tags() -> None:
    """One blank after the tag goes; a line without a tag is trimmed; empty ones are left out."""
    text = "D/Tag:  a: b\n\n  plain \nE/x:\nI/y: z"

    assert list(log.messages_of_tag_format(text)) == [" a: b", "plain", "z"]
