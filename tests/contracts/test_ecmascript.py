"""Text and numbers as the reference host understands them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.contracts.ecmascript import (
    is_blank,
    is_pattern,
    number_to_string,
    stringify,
    to_string,
    trim,
    utf16_length,
)
from tests.contracts.builders import NOT_WHITE_SPACE, WHITE_SPACE


@pytest.mark.parametrize(
    ("text", "units"),
    [("", 0), ("abc", 3), ("é", 1), ("😀", 2), ("\ud83d", 1), ("\ud83d\ude00", 2), ("👩‍👧", 5)],
)
def test_length_in_units(text: str, units: int) -> None:
    """An emoji is two units, a lone surrogate one."""
    assert utf16_length(text) == units


def test_white_space_of_the_reference_is_blank() -> None:
    """The reference's white space, the byte order mark included, is blank."""
    for blank in ["", *WHITE_SPACE, "".join(WHITE_SPACE)]:
        assert is_blank(blank), blank
        assert trim(f"{blank}x{blank}") == "x", blank


@pytest.mark.parametrize("text", NOT_WHITE_SPACE, ids=ascii)
def test_some_white_space_of_python_is_text(text: str) -> None:
    """Some of what Python strips is text to the reference."""
    assert not is_blank(text)
    assert trim(f" {text} ") == text


def test_numbers_are_written_as_the_shortest_double() -> None:
    """Every number is a double and is written in the shortest form."""
    for number, text in [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e21, "1.5e+21"),
        (123456789012345678901, "123456789012345680000"),
        (9007199254740993, "9007199254740992"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (-1e-7, "-1e-7"),
        (123.456, "123.456"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (10**400, "Infinity"),
        (-(10**400), "-Infinity"),
        (math.nan, "NaN"),
    ]:
        assert number_to_string(number) == text, (number, text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back(number: float) -> None:
    """What was written is the same double again."""
    assert float(number_to_string(number)) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1, "1"),
        ([], ""),
        ([None, 1, [2, "a"]], ",1,2,a"),
        ({"a": 1}, "[object Object]"),
        ([{}], "[object Object]"),
    ],
)
def test_values_as_text(value: Any, text: str) -> None:
    """Values become text as ``String(value)`` makes it."""
    assert to_string(value) == text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_json_reads_back(value: Any) -> None:
    """Any JSON value survives being written and read."""
    assert json.loads(stringify(value)) == value


def test_json_escapes_lone_surrogates_only() -> None:
    """A pair is one character; half of one is escaped, so that the text is valid UTF-8."""
    assert stringify({"a": "\ud83d\ude00 \udc00"}) == '{"a":"😀 \\udc00"}'
    assert stringify([math.inf, 1e21]) == "[null,1e+21]"


def test_patterns_of_java_and_javascript_are_accepted() -> None:
    """What Java or JavaScript compiles is not refused for being no Python."""
    for pattern in [
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
    ]:
        assert is_pattern(pattern), pattern


def test_patterns_of_no_dialect_are_refused() -> None:
    """What no dialect compiles is refused."""
    for pattern in [
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
    ]:
        assert not is_pattern(pattern), pattern


def test_large_patterns_cost_no_more_than_reading_them() -> None:
    """Nesting, large classes and large numbers cost no more than reading them."""
    assert is_pattern("(" * 30_000 + ")" * 30_000)
    assert not is_pattern("(" * 30_000 + ")" * 29_999)
    assert is_pattern("(?i)" + "[\x00-\uffff]" * 10_000)
    assert is_pattern("a{" + "9" * 5_000 + "}")
