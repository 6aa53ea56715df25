"""Messages name values and choices briefly, safely and helpfully."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.wording import closest, describe, listed, quote, shown, suggestion


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (5, "number 5"),
        (0.5, "number 0.5"),
        (10**400, "a number of more than 21 digits"),
        ("OK", '"OK"'),
        ([1, 2], "a list of 2"),
        ({"a": 1}, "an object with 1 key(s)"),
        ({1}, "a Python set"),
    ],
)
def test_any_value_has_a_short_description(value: Any, words: str) -> None:
    """Any value has a short name."""
    assert describe(value) == words


def test_values_are_shown_as_python_writes_them() -> None:
    """Those that are nested too deeply for that have a short name instead."""
    nested: Any = []
    for _ in range(5000):
        nested = [nested]

    assert shown({"a": ["b"]}) == "{'a': ['b']}"
    assert shown(nested) == "a list of 1"


def test_quotes_are_one_safe_line() -> None:
    """Control characters, newlines and half characters are shown, not passed on."""
    assert quote('a\n"\x1b[31m\udc00') == '"a\\n\\"\\u001b[31m\\udc00"'
    assert quote("x" * 100) == '"' + "x" * 60 + '"...'
    assert quote("Ä€") == '"Ä€"'


def test_lists_are_bounded() -> None:
    """A long list ends with how many more there are."""
    assert listed(["a", "b c"]) == 'a, "b c"'
    assert listed([f"n{n}" for n in range(12)], limit=2) == "n0, n1 and 10 more"
    assert len(listed(["x" * 10_000])) < 100


def test_suggestions_say_which_is_which() -> None:
    """One word gets one answer; of several each is named."""
    options = ["maxScrolls", "clickAfter"]

    assert suggestion(["maxScroll"], options, {}) == "maxScrolls"
    assert suggestion(["maxScroll", "foo", "clickAftr"], options, {}) == (
        "maxScroll -> maxScrolls, clickAftr -> clickAfter"
    )
    assert suggestion(["foo", "bar"], options, {}) is None


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("maxScroll", "maxScrolls"),
        ("max_scrolls", "maxScrolls"),
        ("MAXSCROLLS", "maxScrolls"),
        ("klik", "click"),
        ("pressed", "press_key"),
        ("completely different", None),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_the_closest_option_survives_case_and_slips(word: str, meant: str | None) -> None:
    """Case, underscores and a slip do not matter; something else altogether does."""
    options = ["maxScrolls", "click"]

    assert closest(word, options, {"press": "press_key", "klick": "click"}) == meant
