"""The validators of read_text."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.parser import is_temperature, is_version, matches


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[(text, True) for text in ("20.7°C", "75°F", "23.7", " -5 c ", "1e3", ".5F", "7 °c")],
        *[(text, False) for text in ("--°C", "", "Loading…", "20,5", "°C", "0x1p3", "1_000")],
    ],
)
def test_a_temperature_is_a_number_with_an_optional_unit(text: str, expected: bool) -> None:
    """A temperature is a number with at most a unit behind it."""
    assert is_temperature(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("16", True), ("1.0.0", True), ("1.", False), ("v1", False)]
)
def test_a_version_is_numbers_with_dots(text: str, expected: bool) -> None:
    """A version is numbers with dots in between."""
    assert is_version(text) is expected


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("ORD-123456", "^ORD-[0-9]{6}$", True),
        ("xORD-123456", "ORD-[0-9]{6}", False),
        ("a.b", r"\Qa.b\E", True),
        ("aXb", r"\Qa.b\E", False),
        ("2024-2024", r"(?<year>\d{4})-\k<year>", True),
        ("Größe", r"\p{L}+", True),
        ("Größe 7", r"[\p{L}\p{Nd} ]+", True),
        ("x", r"\P{L}", False),
        ("x\n", r"x\z", False),
        ("[a]", r"\[[a\]]+", True),
    ],
)
def test_a_pattern_must_match_the_whole_text(text: str, pattern: str, expected: bool) -> None:
    """The whole text has to fit, and Android's spellings are understood."""
    assert matches(text, pattern) is expected
