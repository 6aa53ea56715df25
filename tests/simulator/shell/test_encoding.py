"""Bytes as text, and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.encoding import decode, encode


@given(st.binary())
def test_any_bytes_come_back_as_they_were(data: bytes) -> None:
    """What is no UTF-8 survives being text."""
    assert encode(decode(data)) == data


def test_half_a_surrogate_pair_can_be_written() -> None:
    """Text from JSON may hold one, and must not break a command."""
    assert encode("a\ud83d") == b"a?"
