"""Patterns of the device's dialect are let through; broken ones are not."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.patterns import is_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "^ORD-[0-9]{6}$",
        r"^\d+(\.\d+)*$",
        "(?:x)(?=y)",
        "(?i)abc",
        r"(?<year>\d{4})-\k<year>",
        "(?<=a)b",
        "(?<!a)b",
        r"\p{L}+",
        r"\p{IsGreek}\P{Lu}",
        r"\u{1F600}",
        r"\x41\u0041",
        r"\cJ",
        r"\h\R\X\z",
        r"\Qa.b\E",
        "a++b*+c?+d{2}+",
        "(?>a|b)",
        r"\(\[\{\\",
        "[[a]",
        "[\\d-z]",
        "€😀",
        "",
    ],
)
def test_accepted(pattern: str) -> None:
    """What Java or JavaScript compiles is not refused for being no Python."""
    assert is_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "[", "a{2,1}", "\\", "[z-a]", "a**", "+", "?", "*a", "(?<n", "(?P", "a)b", "(?<n>a"],
)
def test_refused(pattern: str) -> None:
    """What no dialect compiles is refused."""
    assert not is_pattern(pattern)


def test_bounded() -> None:
    """A pattern that cannot fit a payload is not compiled, and deep nesting ends cleanly."""
    assert is_pattern("(" * 100_000)
    assert not is_pattern("(" * 5_000 + ")" * 4_999)
