"""Matching with an automaton."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.shell.tools.patterns.automaton import (
    Automaton,
    Builder,
    TooManyNodes,
)


def test_more_characters_than_can_be_remembered_still_match() -> None:
    """What was remembered is dropped when it grows too large, and nothing is missed."""
    build = Builder()
    automaton = Automaton(
        build.sequence([build.character("a".__eq__), build.character("b".__eq__)])
    )
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 30_000)))

    assert not automaton.matches(many + "a")
    assert automaton.matches(many + "ab")
    assert not automaton.matches(many)


def test_a_repetition_of_nothing_ends() -> None:
    """Whatever matches no character can be repeated without end, and is followed once."""
    build = Builder()
    nothing = build.repetition(build.sequence([]), 0, None)

    assert Automaton(build.repetition(nothing, 1, None)).matches("")


def test_an_automaton_that_grows_too_large_is_refused() -> None:
    """Counted repetitions multiply, up to a limit."""
    build = Builder()
    many = build.repetition(build.character("a".__eq__), 255, 255)

    with pytest.raises(TooManyNodes):
        Automaton(build.repetition(many, 255, 255))
