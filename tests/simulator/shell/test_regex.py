"""Regular expressions: what POSIX says of them, and time that grows with the text alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.regex import Regex, RegexError


def found(pattern: str, text: str, *, extended: bool = True) -> list[str]:
    """List what an expression matches."""
    return [match.text for match in Regex(pattern, extended=extended).matches(text)]


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a\\{2\\}", "aaa a{2}", ["aa"]),
        ("a{2}", "aa a{2}", ["a{2}"]),
        ("\\(ab\\)*", "ababx", ["abab", ""]),
        ("a+b", "aab a+b", ["a+b"]),
        ("a\\+b", "aab", ["aab"]),
        ("a\\|b", "xab", ["a", "b"]),
        ("*a", "*a", ["*a"]),
        ("a^b$c", "a^b$c", ["a^b$c"]),
        ("^a", "aa", ["a"]),
        ("\\(a\\)\\1", "aba aa", ["aa"]),
        ("[]a]", "]a", ["]", "a"]),
        ("[^]a]", "]b", ["b"]),
        ("[a\\n]", "\\", ["\\"]),
        ("[[:digit:]]\\{1,2\\}", "123", ["12", "3"]),
        ("\\<a\\w*", "ba ab", ["ab"]),
        ("\\.", "a.b", ["."]),
    ],
)
def test_basic_expressions(pattern: str, text: str, matches: list[str]) -> None:
    """In the basic kind, operators need a backslash."""
    assert found(pattern, text, extended=False) == matches


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a|ab", "ab", ["ab"]),
        ("(a|ab)(c|bcd)", "abcd", ["abcd"]),
        ("x*", "axx", ["", "xx"]),
        ("(a|b)+c?", "abac", ["abac"]),
        ("a{0,1}b{2,}", "abbb", ["abbb"]),
        ("^|b", "ab", ["", "b"]),
        ("()a", "a", ["a"]),
        ("a)", "a)", ["a)"]),
        ("\\bfoo\\b", "foo food", ["foo"]),
        ("[^a-y]+", "abz1", ["z1"]),
    ],
)
def test_extended_expressions(pattern: str, text: str, matches: list[str]) -> None:
    """Of several choices, the longest counts."""
    assert found(pattern, text) == matches


def test_groups_are_what_they_matched() -> None:
    """Numbered parts come with the match, those not taken part as nothing."""
    (match,) = Regex("(a+)(b)?-(x|xy)", extended=True).matches("aa-xy")

    assert match.groups() == ("aa-xy", "aa", "", "xy")
    assert (match.start, match.end) == (0, 5)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(", "Unmatched ( or )"),
        ("[a", "Unmatched [, [^, [:, [., or [="),
        ("a\\", "Trailing backslash"),
        ("*a", "Invalid preceding regular expression"),
        ("[z-a]", "Invalid range end"),
        ("[[:nope:]]", "Invalid character class name"),
        ("a{3,1}", "Invalid content of \\{\\}"),
        ("\\2", "Invalid back reference"),
        ("(" * 100 + ")" * 100, "regular expression too big"),
        ("((a*){250}){250}|b", "regular expression too big"),
    ],
)
def test_expressions_that_make_no_sense(pattern: str, problem: str) -> None:
    """What is wrong is said in the words of the system's library."""
    with pytest.raises(RegexError) as error:
        Regex(pattern, extended=True).is_in("a")

    assert str(error.value) == problem


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """Give an expression that means the same to Python, but for which choice wins."""
    atom = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "ab"])
    if depth == 0:
        return draw(atom)
    inner = expressions(depth=depth - 1)
    kind = draw(st.sampled_from(["atom", "two", "group", "choice", "repeat"]))
    if kind == "atom":
        return draw(atom)
    if kind == "two":
        return draw(inner) + draw(inner)
    if kind == "group":
        return f"({draw(inner)})"
    if kind == "choice":
        return f"({draw(inner)}|{draw(inner)})"
    return f"({draw(inner)})" + draw(st.sampled_from(["*", "+", "?", "{2}", "{1,2}"]))


@settings(max_examples=300, deadline=None)
@given(expressions(), st.text(st.sampled_from("abc"), max_size=8))
def test_the_first_match_is_leftmost_and_longest(pattern: str, text: str) -> None:
    """Of all pieces that match as a whole, the first and then longest is found."""
    compiled = re.compile(pattern)
    pieces = [
        (start, end)
        for start in range(len(text) + 1)
        for end in range(len(text), start - 1, -1)
        if compiled.fullmatch(text, start, end)
    ]

    regex = Regex(pattern, extended=True)
    match = next(regex.matches(text), None)
    assert regex.is_in(text) == bool(pieces)
    assert (match and (match.start, match.end)) == (pieces[0] if pieces else None)


@settings(max_examples=200, deadline=None)
@given(expressions(), st.text(st.sampled_from("abc"), max_size=8))
def test_groups_lie_inside_their_match(pattern: str, text: str) -> None:
    """Numbered parts are pieces of the match, and what they matched fits them."""
    for match in Regex(pattern, extended=True).matches(text):
        whole, *groups = match.groups()
        assert whole == text[match.start : match.end]
        assert len(groups) == re.compile(pattern).groups
        assert all(group in whole for group in groups)


def test_groups_of_a_risky_expression() -> None:
    """Loops within loops have groups too: what the last round matched."""
    (match,) = Regex("((a|b)+,)+(c*)", extended=True).matches("ab,b," + "a," * 2000 + "cc")

    assert match.groups()[1:] == ("a,", "a", "cc")


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a*)*(a*)*b", "(a|a)*b", "a.*a.*a.*b", "(.*)(.*)b"])
def test_expressions_that_make_others_try_for_ever(pattern: str) -> None:
    """The answer comes, and is right."""
    text = "a" * 3000

    assert not Regex(pattern, extended=True).is_in(text)
    assert Regex(pattern, extended=True).is_in(text + "b")
