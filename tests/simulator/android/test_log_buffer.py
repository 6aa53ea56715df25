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


def test_entries_have_one_row_of_numbers_across_buffers() -> None:
    """A reader that knows its number gets the rest, of the buffers it wants."""
    log = make_log()
    for index in range(10):
        log.write("I", "A", str(index), pid=1, tid=3, buffer=("main", "crash")[index % 2])

    assert [(line.number, line.message) for line in log.since(9)] == [(9, "8"), (10, "9")]
    assert {line.tid for line in log.since(0)} == {3}
    assert log.next_number == 11
    assert [line.message for line in log.since(8, buffers=["main"])] == ["8"]
    assert log.since(11) == []
    assert [line.message for line in log.last(3)] == ["7", "8", "9"]
    assert [line.message for line in log.last(2, buffers=["crash"])] == ["7", "9"]


def test_time_never_goes_back() -> None:
    """A clock that is set back does not make entries older than the ones before them."""
    log = make_log(100.0, 100.0, 105.0, 101.0, 106.0)

    for _ in range(4):
        log.write("I", "A", "x", pid=1)

    assert [line.time for line in log.since(0)] == [100.0, 105.0, 105.0, 106.0]


@pytest.mark.parametrize("tag", ["T", "TaskScopeDefault", "Etikett-ä"])
def test_entry_is_cut_in_bytes(tag: str) -> None:
    """Priority, tag, message and two NULs have 4068 bytes between them."""
    log = make_log()

    log.write("D", tag, "x" * 5000, pid=1)

    (line,) = log.since(0)
    assert 1 + len(as_bytes(line.tag)) + 1 + len(as_bytes(line.message)) + 1 == MAX_PAYLOAD


def test_logd_cuts_bytes_and_ends_at_a_nul() -> None:
    """Of an emoji at the edge only its first bytes stay; multibyte text loses two thirds."""
    log = make_log()
    text = "x" * (4065 - 1 - 2) + "🎉" + "lost"

    log.write("D", "T", text, pid=1)
    log.timber("D", "TaskScopeDefault", "字" * 3999, pid=1)
    log.write("D", "T\0ag", "before\0after", pid=1)

    emoji, multibyte, ended = log.since(0)
    assert as_bytes(emoji.message) == text.encode()[:4064]
    assert as_bytes(emoji.message).endswith("🎉".encode()[:2])
    assert as_bytes(multibyte.message) == ("字" * 3999).encode()[: 4065 - len("TaskScopeDefault")]
    assert (ended.tag, ended.message) == ("T", "before")


def test_timber_splits_long_messages_by_line_and_long_lines() -> None:
    """Below 4,000 units a message stays whole; an exact fit leaves no empty piece."""
    short, line = "a\n\nb\n" + "x" * (TIMBER_PIECE - 6), "x" * 2500

    assert timber_pieces(short) == [short]
    assert timber_pieces(f"{line}\n\n{line}\n") == [line, "", line]
    assert [len(piece) for piece in timber_pieces("x" * 9000)] == [4000, 4000, 1000]
    assert [len(piece) for piece in timber_pieces("x" * 8000)] == [4000, 4000]
    assert [len(piece) for piece in timber_pieces("x" * 4000 + "\ny")] == [4000, 1]


def test_timber_counts_an_emoji_as_two() -> None:
    """A cut may fall between its halves, which are then logged as three bytes each."""
    assert timber_pieces("🎉" * 2000) == ["🎉" * 2000]
    first, second = timber_pieces("x" + "🎉" * 2000)
    assert utf16_units(first) == TIMBER_PIECE
    assert (first[-1], second) == ("\ud83c", "\udf89")

    log = make_log()
    log.timber("I", "T", "x" * 3999 + "🎉", pid=1)
    halves = [as_bytes(line.message)[-3:] for line in log.since(0)]
    assert halves == [b"\xed\xa0\xbc", b"\xed\xbe\x89"]


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


def test_clearing_and_shrinking_forget_but_numbers_go_on() -> None:
    """Only the named buffers are changed, and no number comes twice."""
    log = make_log()
    log.write("I", "T", "gone", pid=1)
    log.write("I", "T", "kept", pid=1, buffer="crash")

    log.clear(["main", "system"])
    for index in range(10):
        log.write("I", "T", str(index) * 100, pid=1)
    log.resize("main", 300)

    assert messages(log) == ["kept", "8" * 100, "9" * 100]
    assert [line.number for line in log.since(0)] == [2, 11, 12]


@in_loop
async def test_wait_returns_when_the_entry_comes() -> None:
    """All who wait for a number wake up once it is there, and not before."""
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
async def test_a_wait_ends_when_streams_are_cut_or_it_is_cancelled() -> None:
    """A reader that waits in vain is let go; one that goes away leaves nothing behind."""
    log = make_log()
    waits = [asyncio.create_task(log.wait(99)) for _ in range(2)]
    await asyncio.sleep(0)
    waits[1].cancel()
    await asyncio.gather(waits[1], return_exceptions=True)
    log.write("I", "T", "one", pid=1)
    log.cut_streams()
    await waits[0]
    assert log.cut_count == 1
    assert messages(log) == ["one"]
