"""Patterns of the device's dialect are let through; broken ones are not."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.text.regex_syntax import is_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "^ORD-[0-9]{6}$",
        r"^\d+(\.\d+)*$",
        "(?:x)(?=y)",
        "(?i)abc",
        r"(?<year>\d{4})-\k<year>",
        "(?<a>.)(?<b>.)",
        "(?<a>x)|(?<a>y)",
        r"\\(?<a>.)\Q(?<a>\E",
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
        "(?<=a|bc)d",
        "(?<!a?)b",
        "abc(?i)def",
        "(?i-s)abc(?-i:x)",
        "a{2}{3}",
        r"\Q(\E",
        r"\Q[a",
        r"\1",
        "[^]",
        "{",
        "a{,3}",
        "]}",
        "^*",
        "",
    ],
)
def test_patterns_of_java_and_javascript_are_accepted(pattern: str) -> None:
    """What Java or JavaScript compiles is not refused for being no Python."""
    assert is_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "[",
        "a{2,1}",
        "\\",
        "[z-a]",
        "a**",
        "+",
        "?",
        "*a",
        "(?<n",
        "(?P<n>a)",
        "(?#c)a",
        "(a)(?(1)b)",
        "a)b",
        "(?<n>a",
        "(?<a>.)(?<a>.)",
        "((?<a>.)(?<b>.(?<a>.)))",
        "a|*",
        "(*a)",
        "{2}",
        "a{2,1}?",
        "[b-a",
        "a{10,9}",
    ],
)
def test_patterns_of_no_dialect_are_refused(pattern: str) -> None:
    """What no dialect compiles is refused."""
    assert not is_pattern(pattern)


def test_large_patterns_cost_no_more_than_reading_them() -> None:
    """Nesting, large classes and large numbers cost no more than reading them."""
    assert is_pattern("(" * 30_000 + ")" * 30_000)
    assert not is_pattern("(" * 30_000 + ")" * 29_999)
    assert is_pattern("(?i)" + "[\x00-\uffff]" * 10_000)
    assert is_pattern("a{" + "9" * 5_000 + "}")
