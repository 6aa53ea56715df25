"""The ring buffers: numbers, times, cuts by logd and by Timber, waiting, clearing."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.simulator.android.log_buffer import (
    MAX_PAYLOAD,
    TIMBER_PIECE,
    LogBuffer,
    timber_pieces,
)
from tests.doubles.simulator.adb_hosts import in_loop


def make_log(*times: float, capacity_bytes: int = 1 << 20) -> LogBuffer:
    """Return a log whose clock shows these times, then the last one for ever."""
    left = list(times) or [1000.0]
    return LogBuffer(
        clock=lambda: left.pop(0) if len(left) > 1 else left[0], capacity_bytes=capacity_bytes
    )


def messages(log: LogBuffer) -> list[str]:
    """List the messages it holds."""
    return [line.message for line in log.since(0)]


def as_bytes(text: str) -> bytes:
    """Return the bytes that logd holds for a message."""
    return text.encode("utf-8", "surrogateescape")


def utf16_units(text: str) -> int:
    """Count as Java does."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_numbers_rise_across_buffers() -> None:
    """Entries of several buffers have one row of numbers, and come back in that order."""
    log = make_log()

    log.write("I", "A", "one", pid=1)
    log.write("W", "B", "two", pid=2, tid=3, buffer="system")
    log.write("E", "C", "three", pid=1)

    assert [(line.number, line.message, line.buffer) for line in log.since(0)] == [
        (1, "one", "main"),
        (2, "two", "system"),
        (3, "three", "main"),
    ]
    assert log.next_number == 4
    assert [line.tid for line in log.since(0)] == [1, 3, 1]


def test_since_gives_only_what_is_new() -> None:
    """A reader who knows his number gets the rest, of the buffers he wants."""
    log = make_log()
    for index in range(10):
        log.write("I", "A", str(index), pid=1, buffer=("main", "crash")[index % 2])

    assert [line.message for line in log.since(8)] == ["7", "8", "9"]
    assert [line.message for line in log.since(8, buffers=["main"])] == ["8"]
    assert log.since(11) == []


def test_last_gives_the_newest_of_the_chosen_buffers() -> None:
    """The newest entries come oldest first, however they are spread over buffers."""
    log = make_log()
    for index in range(6):
        log.write("I", "A", str(index), pid=1, buffer=("main", "crash")[index % 2])

    assert [line.message for line in log.last(3)] == ["3", "4", "5"]
    assert [line.message for line in log.last(9, buffers=["crash"])] == ["1", "3", "5"]


def test_time_never_goes_back() -> None:
    """A clock that is set back does not make entries older than the ones before them."""
    log = make_log(100.0, 100.0, 105.0, 101.0, 106.0)

    for _ in range(4):
        log.write("I", "A", "x", pid=1)

    assert [line.time for line in log.since(0)] == [100.0, 105.0, 105.0, 106.0]


@pytest.mark.parametrize(
    ("priority", "buffer"), [("X", "main"), ("", "main"), ("DI", "main"), ("D", "nowhere")]
)
def test_unknown_priority_or_buffer_is_refused(priority: str, buffer: str) -> None:
    """What liblog has no number for cannot be logged."""
    with pytest.raises(ValueError, match="log"):
        make_log().write(priority, "A", "x", pid=1, buffer=buffer)


@pytest.mark.parametrize("tag", ["T", "TaskScopeDefault", "Etikett-ä"])
def test_entry_is_cut_in_bytes(tag: str) -> None:
    """Priority, tag, message and two NULs have 4068 bytes between them."""
    log = make_log()

    log.write("D", tag, "x" * 5000, pid=1)

    (line,) = log.since(0)
    assert 1 + len(as_bytes(line.tag)) + 1 + len(as_bytes(line.message)) + 1 == MAX_PAYLOAD


def test_cut_may_fall_inside_a_character() -> None:
    """Of an emoji at the edge only its first bytes stay."""
    log = make_log()
    text = "x" * (4065 - 1 - 2) + "🎉" + "lost"

    log.write("D", "T", text, pid=1)

    (line,) = log.since(0)
    assert as_bytes(line.message) == text.encode()[:4064]
    assert as_bytes(line.message).endswith("🎉".encode()[:2])


def test_multibyte_text_below_the_timber_limit_is_truncated() -> None:
    """3999 units of three bytes each are one entry that loses two thirds."""
    log = make_log()

    log.timber("D", "TaskScopeDefault", "字" * 3999, pid=1)

    (line,) = log.since(0)
    assert as_bytes(line.message) == ("字" * 3999).encode()[: 4065 - len("TaskScopeDefault")]


def test_nul_ends_the_message() -> None:
    """What follows a NUL is never seen, as in any C string."""
    log = make_log()

    log.write("D", "T\0ag", "before\0after", pid=1)

    assert [(line.tag, line.message) for line in log.since(0)] == [("T", "before")]


def test_timber_leaves_short_messages_whole() -> None:
    """Below 4,000 units newlines do not matter."""
    message = "a\n\nb\n" + "x" * (TIMBER_PIECE - 6)

    assert timber_pieces(message) == [message]


def test_timber_splits_long_messages_by_line() -> None:
    """From 4,000 units on every line is its own entry, empty ones too, and no last empty one."""
    line = "x" * 2500

    assert timber_pieces(f"{line}\n\n{line}\n") == [line, "", line]


def test_timber_cuts_long_lines() -> None:
    """A line is cut every 4,000 units; an exact fit leaves no empty piece."""
    assert [len(piece) for piece in timber_pieces("x" * 9000)] == [4000, 4000, 1000]
    assert [len(piece) for piece in timber_pieces("x" * 8000)] == [4000, 4000]
    assert [len(piece) for piece in timber_pieces("x" * 4000 + "\ny")] == [4000, 1]


def test_timber_counts_an_emoji_as_two() -> None:
    """2,000 emoji are 4,000 units, and a cut may fall between the halves of one."""
    assert timber_pieces("🎉" * 1999) == ["🎉" * 1999]
    assert timber_pieces("🎉" * 2000) == ["🎉" * 2000]

    first, second = timber_pieces("x" + "🎉" * 2000)

    assert utf16_units(first) == TIMBER_PIECE
    assert (first[-1], second) == ("\ud83c", "\udf89")


def test_half_an_emoji_is_logged_as_three_bytes() -> None:
    """The Java runtime writes a lone surrogate out, and so does the log."""
    log = make_log()

    log.timber("I", "T", "x" * 3999 + "🎉", pid=1)

    assert [as_bytes(line.message)[-3:] for line in log.since(0)] == [
        b"\xed\xa0\xbc",
        b"\xed\xbe\x89",
    ]


@given(st.text(alphabet="a\n🎉é字", max_size=60), st.integers(0, 9000))
def test_timber_loses_nothing_but_newlines(text: str, padding: int) -> None:
    """Pieces are at most 4,000 units long and together hold every other character."""
    message = text + "x" * padding + text

    pieces = timber_pieces(message)

    whole = "".join(pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    assert whole.replace("\n", "") == message.replace("\n", "")
    assert all(utf16_units(piece) <= TIMBER_PIECE for piece in pieces)


def test_oldest_entries_go_when_a_buffer_is_full() -> None:
    """Each buffer has its own room, and only its own entries make way."""
    log = make_log(capacity_bytes=1000)
    log.write("I", "S", "stays", pid=1, buffer="system")

    for index in range(100):
        log.write("I", "T", f"{index:0100d}", pid=1)

    kept = [line for line in log.since(0) if line.buffer == "main"]
    assert [int(line.message) for line in kept] == list(range(100 - len(kept), 100))
    assert 0 < log.used_bytes("main") <= log.capacity_bytes("main") == 1000
    assert messages(log)[0] == "stays"


def test_shrinking_drops_the_oldest() -> None:
    """A smaller size takes effect at once."""
    log = make_log()
    for index in range(10):
        log.write("I", "T", str(index) * 100, pid=1)

    log.resize("main", 300)

    assert messages(log) == ["8" * 100, "9" * 100]


def test_clear_forgets_but_numbers_go_on() -> None:
    """Only the named buffers are emptied, and no number comes twice."""
    log = make_log()
    log.write("I", "T", "gone", pid=1)
    log.write("I", "T", "kept", pid=1, buffer="crash")

    log.clear(["main", "system"])
    log.write("I", "T", "new", pid=1)

    assert [(line.number, line.message) for line in log.since(0)] == [(2, "kept"), (3, "new")]


@in_loop
async def test_wait_returns_when_the_entry_comes() -> None:
    """Everybody who waits for a number wakes up once it is there, and not before."""
    log = make_log()
    waits = [asyncio.create_task(log.wait(number)) for number in (1, 1, 2)]
    await asyncio.sleep(0)
    log.write("I", "T", "one", pid=1)
    await asyncio.wait_for(asyncio.gather(*waits[:2]), 5)
    assert not waits[2].done()
    log.write("I", "T", "two", pid=1)
    await asyncio.wait_for(waits[2], 5)
    await asyncio.wait_for(log.wait(2), 5)


@in_loop
async def test_cutting_streams_ends_all_waiting() -> None:
    """A reader that waits in vain is let go, and sees why."""
    log = make_log()
    wait = asyncio.create_task(log.wait(99))
    await asyncio.sleep(0)
    log.cut_streams()
    await asyncio.wait_for(wait, 5)
    assert log.cut_count == 1


@in_loop
async def test_a_cancelled_wait_leaves_nothing_behind() -> None:
    """A host that goes away does not make later entries fail."""
    log = make_log()
    wait = asyncio.create_task(log.wait(1))
    await asyncio.sleep(0)
    wait.cancel()
    await asyncio.gather(wait, return_exceptions=True)
    log.write("I", "T", "one", pid=1)
    assert messages(log) == ["one"]
