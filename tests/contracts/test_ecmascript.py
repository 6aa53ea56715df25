"""Text and numbers as the reference host understands them."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.contracts import ecmascript
from tests.contracts.builders import NOT_WHITE_SPACE, WHITE_SPACE


def test_length_in_units() -> None:
    """An emoji is two units, a lone surrogate one."""
    texts = ("", "abc", "é", "😀", "\ud83d", "\ud83d\ude00", "👩‍👧")
    assert [ecmascript.utf16_length(text) for text in texts] == [0, 3, 1, 2, 1, 2, 5]


def test_white_space_is_that_of_the_reference() -> None:
    """The byte order mark is blank; some of what Python strips is text."""
    for blank in ["", *WHITE_SPACE, "".join(WHITE_SPACE)]:
        assert ecmascript.is_blank(blank), blank
        assert ecmascript.trim(f"{blank}x{blank}") == "x", blank
    for text in NOT_WHITE_SPACE:
        assert not ecmascript.is_blank(text), text
        assert ecmascript.trim(f" {text} ") == text


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
        assert ecmascript.number_to_string(number) == text, (number, text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back(number: float) -> None:
    """What was written is the same double again."""
    assert float(ecmascript.number_to_string(number)) == number


def test_values_as_text() -> None:
    """Values become text as ``String(value)`` makes it."""
    rows: list[tuple[Any, str]] = [
        ("x", "x"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1, "1"),
        ([], ""),
        ([None, 1, [2, "a"]], ",1,2,a"),
        ({"a": 1}, "[object Object]"),
        ([{}], "[object Object]"),
    ]
    assert [ecmascript.to_string(value) for value, _ in rows] == [text for _, text in rows]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_json_reads_back(value: Any) -> None:
    """Any JSON value survives being written and read."""
    assert json.loads(ecmascript.stringify(value)) == value


def test_json_escapes_lone_surrogates_only() -> None:
    """A pair is one character; half of one is escaped, so that the text is valid UTF-8."""
    assert ecmascript.stringify({"a": "\ud83d\ude00 \udc00"}) == '{"a":"😀 \\udc00"}'
    assert ecmascript.stringify([math.inf, 1e21]) == "[null,1e+21]"


# Blanks divide the patterns.
OF_JAVA_AND_JAVASCRIPT = r"""
^ORD-[0-9]{6}$ ^\d+(\.\d+)*$ (?:x)(?=y) (?i)abc (?<year>\d{4})-\k<year> (?<a>.)(?<b>.)
(?<a>x)|(?<a>y) \\(?<a>.)\Q(?<a>\E (?<=a)b (?<!a)b \p{L}+ \p{IsGreek}\P{Lu} \u{1F600}
\x41\u0041 \cJ \h\R\X\z \Qa.b\E a++b*+c?+d{2}+ (?>a|b) \(\[\{\\ [[a] [\d-z] €😀 (?<=a|bc)d
(?<!a?)b abc(?i)def (?i-s)abc(?-i:x) a{2}{3} \Q(\E \Q[a \1 [^] { a{,3} ]} ^*
"""
OF_NO_DIALECT = r"""
( ) [ a{2,1} \ [z-a] a** + ? *a (?<n (?P<n>a) (?#c)a (a)(?(1)b) a)b (?<n>a (?<a>.)(?<a>.)
((?<a>.)(?<b>.(?<a>.))) a|* (*a) {2} a{2,1}? [b-a a{10,9}
"""


def test_patterns_of_java_and_javascript_are_accepted_and_others_refused() -> None:
    """What Java or JavaScript compiles is accepted; a large pattern is only read."""
    large = ("(" * 30_000 + ")" * 30_000, "(?i)" + "[\x00-\uffff]" * 10_000)
    for pattern in (*OF_JAVA_AND_JAVASCRIPT.split(), "", *large, "a{" + "9" * 5_000 + "}"):
        assert ecmascript.is_pattern(pattern), pattern[:40]
    for pattern in (*OF_NO_DIALECT.split(), "(" * 30_000 + ")" * 29_999):
        assert not ecmascript.is_pattern(pattern), pattern[:40]
