"""A node fits a matcher by the Operator's rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_clawperator.contracts.matchers import MATCHER_KEYS, NodeMatcher
from pytest_clawperator.errors import ConfigurationError, ExecutionValidationError
from pytest_clawperator.snapshot.matching import FIELDS, Query, folded
from pytest_clawperator.snapshot.tree import Node
from tests.snapshot.screens import login, node, screen


@pytest.mark.parametrize(
    ("keywords", "fits"),
    [
        ({"text": "Log in"}, True),
        ({"text": "log in"}, False),
        ({"text": "Log"}, False),
        ({"text": "User name"}, True),  # the description is the label of what has no text
        ({"text": "an entry"}, False),
        ({"text_contains": "LOG"}, True),
        ({"text_contains": "entry"}, False),
        ({"id": "com.example:id/submit"}, True),
        ({"id": "submit"}, True),
        ({"id": "mit"}, False),
        ({"id": "Submit"}, False),
        ({"desc": "an entry"}, True),
        ({"desc": "An entry"}, False),
        ({"desc": "Log in"}, False),
        ({"desc_contains": "ENTRY"}, True),
        ({"role": "textfield"}, True),
        ({"role": "TextField"}, True),
        ({"role": "switch"}, False),
        ({"text": "Log in", "role": "button"}, True),
        ({"text": "Log in", "role": "textfield"}, False),
        ({"text": "Log out"}, False),  # off-screen
        ({"text": re.compile("og")}, True),
        ({"text": re.compile("^og")}, False),
        ({"text": re.compile("^log IN$")}, False),
        ({"text": re.compile("^log IN$", re.IGNORECASE)}, True),
        ({"text": re.compile("^User")}, True),  # a description, where there is no text
        ({"text": re.compile("^$")}, False),  # what a node does not have fits nothing
        ({"id": re.compile("^sub")}, True),
        ({"id": re.compile(r"^com\.example:id/sub")}, True),
        ({"id": re.compile("^$")}, False),
        ({"desc": re.compile("entry$")}, True),
        ({"desc": re.compile("^$")}, False),
        ({"text": re.compile("Log"), "role": "button"}, True),
        ({"text": re.compile("Log"), "role": "textfield"}, False),
        ({"text": re.compile("Log out")}, False),  # off-screen
    ],
)
def test_every_field_that_is_given_must_fit(keywords: dict[str, Any], fits: bool) -> None:
    """Every field that is given must fit, by the Operator's rules."""
    assert bool(login().find(**keywords)) is fits


@pytest.mark.parametrize(
    "matcher",
    [
        NodeMatcher(text_equals="Log in", role="button"),
        {"textEquals": "Log in", "role": "button"},
        {"text": "Log in", "role": "button"},
        Query(NodeMatcher(text_equals="Log in", role="button")),
    ],
)
def test_forms_of_a_matcher(matcher: NodeMatcher | Mapping[str, Any] | Query) -> None:
    """A matcher may be an object or a dict in wire form, with its aliases."""
    snapshot = login()

    assert snapshot.find(matcher) is snapshot.find(id="submit")


def test_a_matcher_means_what_it_says() -> None:
    """Only a keyword may be a short id; a matcher is what the Operator would get."""
    snapshot = login()

    assert not snapshot.find({"id": "submit"})
    assert not snapshot.find(NodeMatcher(resource_id="submit"))
    assert Query.of(None, {"id": "submit"}).takes_short_id
    assert not Query.of(None, {"id": "com.example:id/submit"}).takes_short_id
    assert not Query.of(None, {"text": "a"}).takes_short_id


def test_a_matcher_that_is_none_is_refused() -> None:
    """A matcher without content, or two at once, are mistakes and not misses."""
    snapshot = login()

    with pytest.raises(ExecutionValidationError, match="at least one field"):
        snapshot.find()
    with pytest.raises(TypeError, match="not both"):
        snapshot.find(NodeMatcher(text_equals="a"), text="a")
    with pytest.raises(ConfigurationError, match="not matched by colour="):
        snapshot.find(colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("one", "other"), [("ÄÖÜ", "äöü"), ("ΣΑΣ", "σας"), ("ISTANBUL", "ıstanbul"), ("a", "A")]
)
def test_case_is_ignored_as_on_the_device(one: str, other: str) -> None:
    """Characters are compared one by one, so no text grows and no neighbour counts."""
    assert folded(one) == folded(other)
    assert len(folded("straße İ")) == len("straße İ")


def test_misspelt_keyword_is_refused() -> None:
    """A keyword that is nearly one is a mistake, and says which was meant."""
    with pytest.raises(ConfigurationError, match="Did you mean text="):
        login().find(txt="x")  # type: ignore[call-arg]


@pytest.mark.parametrize("search", ["find", "find_all", "count"])
def test_misspelt_role_is_refused(search: str) -> None:
    """A role that is nearly one would never be found, so it is refused."""
    snapshot = login()

    with pytest.raises(ConfigurationError, match="Did you mean switch"):
        getattr(snapshot, search)(role="swich")


def test_each_field_of_a_matcher_is_compared_with_a_node() -> None:
    """No field is without its row, and each row names attributes that nodes have."""
    attributes = [row.attribute for row in FIELDS.values()]
    attributes += [row.elsewhere[0] for row in FIELDS.values() if row.elsewhere]

    assert set(FIELDS) == {key.field for key in MATCHER_KEYS}
    assert all(hasattr(Node, attribute) for attribute in attributes)


def test_patterns_are_found_inside_a_node_too() -> None:
    """A part of a snapshot is searched as the whole is."""
    snapshot = login()

    found = snapshot.root.find_all(text=re.compile("^Log"))

    assert found == snapshot.find_all(text=re.compile("^Log"))
    assert found


def test_a_long_text_is_found_on_a_snapshot() -> None:
    """Terms and conditions are longer than a matcher that is sent may be."""
    long = "Terms " * 200
    snapshot = screen(node(text=long), node(text=long[:512]))

    found = snapshot.find_all(text=long)

    assert [len(one.text) for one in found] == [1200]
    assert len(snapshot.find_all(text_contains="terms " * 100)) == 1
