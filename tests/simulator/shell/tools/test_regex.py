"""Regular expressions of ``grep``: their two dialects, and their limits."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.tools.regex import RegexError, compile_regex


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
    "pattern",
    ["(a+)+b", "(a|a)*b", "(ab){2}", "a**", "(a)\\1", "(?i)a", "\\<a", "(", "[a", "a" * 1001, "*a"],
)
def test_what_cannot_be_matched_safely_is_refused(pattern: str) -> None:
    """Repeated groups, back-references and nonsense are errors, not guesses."""
    with pytest.raises(RegexError):
        compile_regex(pattern, extended=True)


def test_a_line_that_would_take_too_long_is_refused() -> None:
    """Several repetitions are fine on usual lines and refused on very long ones."""
    matches = compile_regex("a*a*a*b")

    assert not matches("a" * 100)
    with pytest.raises(RegexError, match="too complex for a line of 5000 characters"):
        matches("a" * 5000)


@settings(max_examples=100, deadline=None)
@given(st.text("ab|()*+?{}[]^$\\.,12-", max_size=12), st.booleans())
def test_no_expression_takes_long(pattern: str, extended: bool) -> None:
    """Whatever the expression, it is refused or answered within moments."""
    start = time.monotonic()
    with suppress(RegexError):
        compile_regex(pattern, extended=extended)("ab" * 200)

    assert time.monotonic() - start < 5
