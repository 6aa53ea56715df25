"""The checks of a node: what holds, what does not, and what cannot be asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.assertions.locator import LocatorAssertions
from pytest_clawperator.errors import ConfigurationError
from tests.doubles.expecting import assertions, failure

Hold = Callable[[LocatorAssertions], None]


TRUE: list[tuple[dict[str, Any], str, tuple[Any, ...], dict[str, Any]]] = [
    ({"text": "Sign in"}, "to_be_visible", (), {}),
    ({"text": "Away"}, "to_be_hidden", (), {}),
    ({"text": "Nowhere"}, "to_be_hidden", (), {}),
    ({"text": "Away"}, "to_exist", (), {}),
    ({"id": "name"}, "to_be_enabled", (), {}),
    ({"id": "pay"}, "to_be_disabled", (), {}),
    ({"id": "wifi"}, "to_be_checked", (), {}),
    ({"id": "name"}, "to_be_focused", (), {}),
    ({"id": "home"}, "to_be_selected", (), {}),
    ({"text": "Half"}, "to_be_in_viewport", (), {}),
    ({"text": "Half"}, "to_be_in_viewport", (), {"ratio": 0.5}),
    ({"id": "heading"}, "to_have_text", ("Sign in",), {}),
    ({"id": "search"}, "to_have_text", ("Search",), {}),
    ({"id": "heading"}, "to_have_text", (re.compile("^sign", re.IGNORECASE),), {}),
    ({"role": "switch"}, "to_have_text", (["Wi-Fi", re.compile("Sou")],), {}),
    ({"id": "heading"}, "to_contain_text", ("gn i",), {}),
    ({"role": "switch"}, "to_contain_text", (["ound"],), {}),
    ({"id": "search"}, "to_have_desc", ("Search",), {}),
    ({"id": "pay"}, "to_have_role", ("button",), {}),
    ({"role": "switch"}, "to_have_count", (2,), {}),
    ({"text": "Nowhere"}, "to_have_count", (0,), {}),
    ({"text": "Version"}, "to_have_value", ("16",), {}),
    ({"id": "row"}, "to_have_value", (re.compile(r"^\d+$"),), {}),
    ({"id": "name"}, "to_have_value", ("ada",), {}),
]


FALSE: list[tuple[dict[str, Any], str, tuple[Any, ...], dict[str, Any], str]] = [
    ({"text": "Nowhere"}, "to_be_visible", (), {}, "found no match"),
    ({"text": "Away"}, "to_be_visible", (), {}, "found off-screen"),
    ({"text": "Sign in"}, "to_be_hidden", (), {}, "found visible"),
    ({"text": "Nowhere"}, "to_exist", (), {}, "found no match"),
    ({"id": "pay"}, "to_be_enabled", (), {}, "found disabled"),
    ({"id": "name"}, "to_be_disabled", (), {}, "found enabled"),
    ({"id": "sound"}, "to_be_checked", (), {}, "found unchecked"),
    ({"id": "pay"}, "to_be_focused", (), {}, "found not focused"),
    ({"id": "pay"}, "to_be_selected", (), {}, "found not selected"),
    ({"text": "Half"}, "to_be_in_viewport", (), {"ratio": 0.6}, "found 50% of it in the viewport"),
    ({"text": "Away"}, "to_be_in_viewport", (), {}, "found off-screen"),
    ({"id": "heading"}, "to_have_text", ("Sign up",), {}, 'found "Sign in"'),
    ({"role": "switch"}, "to_have_text", (["Wi-Fi"],), {}, 'found ["Wi-Fi", "Sound"]'),
    ({"id": "heading"}, "to_contain_text", ("gn I",), {}, 'found "Sign in"'),
    ({"role": "switch"}, "to_contain_text", (["Sound", "Wi-Fi"],), {}, '["Wi-Fi", "Sound"]'),
    ({"id": "search"}, "to_have_desc", ("Find",), {}, 'found "Search"'),
    ({"id": "pay"}, "to_have_role", ("switch",), {}, "found button"),
    ({"role": "switch"}, "to_have_count", (3,), {}, "found 2 nodes"),
    ({"text": "Version"}, "to_have_value", ("15",), {}, 'found "16"'),
]


@pytest.mark.parametrize(("matcher", "check", "args", "options"), TRUE)
def test_a_check_that_holds_passes_and_its_opposite_fails(
    matcher: dict[str, Any], check: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """A check passes if it is so, and then its opposite fails."""
    expected = assertions(matcher)

    getattr(expected, check)(*args, **options)
    told = failure(lambda: getattr(expected, f"not_{check}")(*args, **options))

    assert f" not {check.split('_')[0]} " in told


@pytest.mark.parametrize(("matcher", "check", "args", "options", "found"), FALSE)
def test_a_check_that_does_not_hold_fails_and_its_opposite_passes(
    matcher: dict[str, Any],
    check: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    found: str,
) -> None:
    """A check fails if it is not so, and names what was found; then its opposite passes."""
    expected = assertions(matcher)

    told = failure(lambda: getattr(expected, check)(*args, **options))
    getattr(expected, f"not_{check}")(*args, **options)

    assert found in told.split("\n")[0]


@pytest.mark.parametrize(
    ("check", "args"),
    [
        ("to_be_enabled", ()),
        ("to_be_checked", ()),
        ("to_be_focused", ()),
        ("to_be_selected", ()),
        ("to_have_text", ("x",)),
        ("to_contain_text", ("x",)),
        ("to_have_desc", ("x",)),
        ("to_have_role", ("button",)),
        ("to_have_value", ("x",)),
    ],
)
def test_a_state_of_an_absent_node_fails_both_ways(check: str, args: tuple[Any, ...]) -> None:
    """A check of a node's state fails, negated or not, if the node is absent."""
    expected = assertions({"text": "Nowhere"})

    told = [failure(partial(getattr(expected, name), *args)) for name in (check, f"not_{check}")]

    assert all("found no match" in text for text in told)


def test_what_cannot_be_checked_is_neither_on_nor_off() -> None:
    """A node that cannot be checked fails to_be_checked, negated or not."""
    expected = assertions({"id": "heading"})

    for hold in (expected.to_be_checked, expected.not_to_be_checked):
        assert "found a text that cannot be checked" in failure(hold)


@pytest.mark.parametrize(
    ("hold", "complaint"),
    [
        (lambda e: e.to_have_text(3), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_text(re.compile(b"x")), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_text([b"x"]), "a text, a pattern or a list of them"),
        (lambda e: e.to_have_count(-1), "a count is a whole number"),
        (lambda e: e.to_have_count(True), "a count is a whole number"),
        (lambda e: e.to_have_role("buton"), "Did you mean 'button'"),
        (lambda e: e.to_have_role("listitem"), "snapshots have no role"),
        (lambda e: e.to_be_in_viewport(ratio=2), "ratio= must be more than 0"),
        (lambda e: e.to_be_visible(timeout=-1), "timeout= must be a number"),
    ],
)
def test_a_wrong_argument_is_refused_before_looking(hold: Hold, complaint: str) -> None:
    """An argument that makes no sense is refused before the first look."""
    with pytest.raises(ConfigurationError, match=complaint):
        hold(assertions({"id": "pay"}))
