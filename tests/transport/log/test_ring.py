"""The newest lines, by absolute numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.transport.log.ring import Ring


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
