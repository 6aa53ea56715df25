"""Regular expressions of ``grep``: their two dialects, and their limits."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.tools.patterns.regex import RegexError, compile_regex


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("a\\{2\\}", "baa", "a{2}"),
        ("a{2}", "a{2}", "aa"),
        ("\\(ab\\)c", "xabc", "(ab)c"),
        ("a+b", "a+b", "aab"),
        ("a\\+b", "aab", "a+b"),
        ("a\\|b", "b", "|"),
        ("a^b$c", "a^b$c", "abc"),
        ("^a.c$", "abc", "abcd"),
        ("[]a]", "]", "b"),
        ("[^]a]", "]b", "]a"),
        ("[a\\n]", "\\", "b"),
        ("[[:digit:]][[:alpha:]_]", "1_", "1-"),
        ("\\.", ".", "a"),
        ("*a", "x*a", "a"),
        ("^*a", "*a", "x*a"),
        ("\\(*a\\)", "*a", "a"),
        ("x\\|^ab", "ab", "cab"),
        ("\\(^ab\\)", "ab", "cab"),
        ("\\(ab$\\)\\|x", "cab", "abc"),
        ("(x", "(x", "x"),
        ("^^a*$", "^aa", "aa"),
        ("\\(ab\\)*c$", "ababc", "cd"),
    ],
)
def test_in_basic_expressions_operators_need_a_backslash(pattern: str, yes: str, no: str) -> None:
    """Without it, they are characters."""
    matches = compile_regex(pattern)

    assert (matches(yes), matches(no)) == (True, False)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("mCurrentFocus|mFocusedApp", "  mFocusedApp=x", "focus"),
        ("(a|b)c?d", "bd", "d"),
        ("a{0,1}b{2,}", "bb", "ab"),
        ("^(a|b)$", "b", "ab"),
        ("\\(a\\)", "(a)", "a"),
        ("v[0-9]+\\.[0-9]+", "v1.20", "v1x2"),
        ("[(*+]", "*", "a"),
        ("\\bfoo\\b", "a foo b", "food"),
        ("\\<foo\\>", "a foo b", "food"),
        ("^(ab){2}(c|d)+$", "ababcdc", "abcd"),
        ("ActivityRecord{.*shop", "ActivityRecord{1 shop", "ActivityRecord"),
        ("(ab|a).*b$", "ab", "a"),
    ],
)
def test_in_extended_expressions_operators_stand_alone(pattern: str, yes: str, no: str) -> None:
    """With a backslash, they are characters."""
    matches = compile_regex(pattern, extended=True)

    assert (matches(yes), matches(no)) == (True, False)


def test_fixed_texts_and_case() -> None:
    """Fixed texts have no operators; case can be ignored."""
    assert compile_regex("a.c", fixed=True)("xa.c")
    assert not compile_regex("a.c", fixed=True)("abc")
    assert compile_regex("ABC", ignore_case=True)("xabc")


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("alnum", "aZ5", "-é "),
        ("alpha", "aZ", "5_"),
        ("blank", " \t", "\na"),
        ("cntrl", "\x01\x7f", "a "),
        ("digit", "09", "a"),
        ("graph", "a!", " \x01"),
        ("lower", "az", "A1"),
        ("print", "a! ", "\x01"),
        ("punct", "!]^-\\", "a "),
        ("space", " \t\r", "a"),
        ("upper", "AZ", "a1"),
        ("xdigit", "09afAF", "g"),
    ],
)
def test_named_classes_work_inside_sets(name: str, yes: str, no: str) -> None:
    """Each class stands for its characters, alone, negated, and beside other members."""
    inside = compile_regex(f"^[[:{name}:]]$")
    outside = compile_regex(f"^[^[:{name}:]]$")
    mixed = compile_regex(f"^[%[:{name}:]]$")

    assert [inside(key) for key in yes + no] == [True] * len(yes) + [False] * len(no)
    assert [outside(key) for key in yes + no] == [False] * len(yes) + [True] * len(no)
    assert [mixed(key) for key in yes + "%"] == [True] * len(yes + "%")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a)\\1", r"\1 is not supported by the simulated grep"),
        ("(?i)a", "nothing to repeat before ?"),
        ("*a", "nothing to repeat before *"),
        ("a|{2}", "nothing to repeat before {"),
        ("(x", "unmatched ("),
        ("x)", "unmatched )"),
        ("[a", "unmatched ["),
        ("[[:upper:]", "unmatched ["),
        ("[[:big:]]", "unknown class [:big:]"),
        ("[z-a]", "bad range in [z-a]"),
        ("a{2,1}", "bad repetition count"),
        ("a{999}", "bad repetition count"),
        ("a\\", "backslash at the end"),
        ("(a{255}){255}", "too many repetitions"),
        ("(" * 500 + ")" * 500, "nested too deeply"),
        ("a" * 1001, "too long"),
    ],
)
def test_bad_expressions_are_refused_in_plain_words(pattern: str, message: str) -> None:
    """The message says what is wrong, and never in Python's words."""
    with pytest.raises(RegexError) as error:
        compile_regex(pattern, extended=True)

    assert str(error.value) == message


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "a*a*a*a*b", ".*a.*a.*a.*a.*b", "a**b"])
def test_no_repetition_is_too_complex_for_a_long_line(pattern: str) -> None:
    """The time grows with the length of the line only, however the expression repeats."""
    matches = compile_regex(pattern, extended=True)

    assert not matches("a" * 20_000)
    assert matches("a" * 20_000 + "b")


_atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "^", "$", "\\b", "c"])
_expressions = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{1,}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(_expressions, st.lists(st.text("abc ", max_size=6), max_size=5), st.booleans())
def test_lines_match_as_in_python(pattern: str, lines: list[str], ignore_case: bool) -> None:
    """What both can express, both answer alike."""
    matches = compile_regex(pattern, extended=True, ignore_case=ignore_case)
    python = re.compile(pattern, re.IGNORECASE if ignore_case else 0)

    assert [matches(line) for line in lines] == [bool(python.search(line)) for line in lines]


@settings(max_examples=100, deadline=None)
@given(st.text("ab|()*+?{}[]^$\\.,12-", max_size=12), st.booleans())
def test_no_expression_takes_long(pattern: str, extended: bool) -> None:
    """Whatever the expression, it is refused or answered within moments."""
    start = time.monotonic()
    with suppress(RegexError):
        compile_regex(pattern, extended=extended)("ab" * 200)

    assert time.monotonic() - start < 5
