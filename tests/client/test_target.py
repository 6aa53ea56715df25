"""Targets are read from every form they may be given in, and found on a snapshot."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client.target import Route, Target, container_of, inside, target_of
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import (
    ConfigurationError,
    ExecutionValidationError,
)
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.doubles.runner import PACKAGE, SHOP, Phone, client

SNAPSHOT = Snapshot.from_xml(SHOP)


def target(given: Any = None, /, **options: Any) -> Target:
    """Read a target as a method named click would."""
    around = {name: options.pop(name) for name in ("within", "has") if name in options}
    return target_of(given, options, verb="click", **around)


def found(target: Target) -> list[str]:
    """Resolve a target; give the labels."""
    return [node.label for node in target.resolve(SNAPSHOT)]


@pytest.mark.parametrize(
    "given",
    [
        NodeMatcher.of(text="Tea"),
        {"textEquals": "Tea"},
        {"text": "Tea"},
        client(Phone()).node(text="Tea"),
        SNAPSHOT.find(text="Tea"),
    ],
    ids=["matcher", "wire", "alias", "locator", "node"],
)
def test_every_form_means_the_same(given: Any) -> None:
    """A matcher, a dict, a locator and a node can all be aimed at."""
    assert found(target(given)) == ["Tea"]
    assert found(target(text="Tea")) == ["Tea"]


@pytest.mark.parametrize(
    ("given", "keywords", "message", "hint"),
    [
        (None, {"txt": "Tea"}, "click() got an unexpected keyword: txt", "Did you mean text=?"),
        (None, {"colour": "red"}, "click() got an unexpected keyword: colour", "text_contains, id"),
        (None, {}, "click() needs a node, and none was given", "text='OK'"),
        (5, {}, "click() cannot aim at something of type int", "NodeMatcher"),
        ({"text": "Tea"}, {"id": "x"}, "click() got both a dict and id=", "one of them"),
    ],
)
def test_mistakes_are_explained(given: Any, keywords: Any, message: str, hint: str) -> None:
    """What cannot be aimed at is refused with what would do."""
    with pytest.raises(ConfigurationError) as refused:
        target(given, **keywords)

    assert message in refused.value.message
    assert hint in str(refused.value.hint)


@pytest.mark.parametrize("empty", [{}, {"text": None}, {"text": ""}])
def test_an_empty_matcher_is_refused(empty: Any) -> None:
    """It would match everything."""
    with pytest.raises((ExecutionValidationError, ConfigurationError)):
        target(**empty)


def test_short_ids_are_keywords_only() -> None:
    """A keyword may leave the package out; an object is taken literally."""
    short = target(id="name")
    matcher = target(NodeMatcher.of(id="name"))

    assert found(short) == ["Tea", "Milk", "Bread"]
    assert short.route() is Route.COMPLETED
    assert found(matcher) == []
    assert matcher.is_plain


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        ({"text": "Buy"}, ["Buy", "Buy", "Buy"]),
        ({"text": "Buy", "within": {"id": f"{PACKAGE}:id/row"}}, ["Buy"]),
        ({"id": "row", "has": NodeMatcher.of(text="Milk")}, [""]),
        ({"text": "Buy", "has": NodeMatcher.of(text="Buy")}, []),
        ({"text": "Buy", "within": NodeMatcher.of(text="Wine")}, []),
        ({"text": "Tea", "within": SNAPSHOT.find_all(id="row")[1]}, []),
        ({"text": "Milk", "within": SNAPSHOT.find_all(id="row")[1]}, ["Milk"]),
    ],
)
def test_what_is_around_and_inside(described: Any, expected: list[str]) -> None:
    """Only the first container counts, as on the device; ``has`` is about what is inside."""
    assert found(target(**described)) == expected


@pytest.mark.parametrize(
    ("index", "expected"), [(0, ["Tea"]), (2, ["Bread"]), (-1, ["Bread"]), (3, []), (-4, [])]
)
def test_one_of_several(index: int, expected: list[str]) -> None:
    """An index picks one, from the end if it is negative."""
    assert found(target(id="name").nth(index)) == expected


def test_targets_inside_each_other() -> None:
    """A chain inside a container keeps its own containers; what is missing is the outermost."""
    milk = target(id="row", has=NodeMatcher.of(text="Milk"))
    price = inside(milk, target(id="price"))
    chain = inside(target(id="row").nth(1), target(id="name"))
    whole = inside(target(id="list"), chain)
    missing = inside(inside(target(id="list"), target(text="Wine")), target(text="Tea"))

    assert (found(price), found(whole)) == (["$2"], ["Milk"])
    assert str(price) == "node(id='row', has=node(text='Milk')).node(id='price')"
    assert str(whole) == "node(id='list').node(id='row').nth(1).node(id='name')"
    assert str(missing.missing_part(SNAPSHOT)) == "node(id='list').node(text='Wine')"


def test_a_node_is_found_again_on_another_snapshot() -> None:
    """A node of an old snapshot is looked for by what distinguishes it from the others."""
    tea = SNAPSHOT.find(text="Tea")
    assert isinstance(tea, Node)
    later = Snapshot.from_xml(SHOP)

    (again,) = target(tea).resolve(later)

    assert again is not tea
    assert again.label == "Tea"


def test_equal_by_what_they_mean() -> None:
    """Targets are data; the count of the last snapshot is not part of them."""
    one, other = target(id="name"), target(id="name")
    one.last.total = 3

    assert one == other
    assert hash(one) == hash(other)
    assert one.ordinal == "1st of 3"
    assert other.ordinal == ""


def test_a_container_is_optional() -> None:
    """In a dict all keywords are understood, also those that are not aliases on the wire."""
    given = container_of({"desc": "Menu"}, verb="scroll")

    assert container_of(None, verb="scroll") is None
    assert given is not None
    assert given.matcher == NodeMatcher.of(desc="Menu")


@pytest.mark.parametrize(
    ("described", "options", "route"),
    [
        ({"text": "Tea"}, {}, Route.SENT),
        ({"id": f"{PACKAGE}:id/name"}, {}, Route.SENT),
        ({"text": "Tea"}, {"is_proved": True}, Route.PROVED),
        ({"role": "title"}, {"is_proved": True}, Route.SENT),
        ({"id": "name"}, {}, Route.COMPLETED),
        ({"id": "name"}, {"is_proved": True}, Route.COMPLETED),
        ({"id": "name", "within": {"text": "Tea"}}, {"takes_container": True}, Route.LOOKED_UP),
        ({"text": "Tea", "within": {"text": "Shop"}}, {}, Route.LOOKED_UP),
        ({"text": "Tea", "within": {"text": "Shop"}}, {"takes_container": True}, Route.SENT),
        ({"text": "Tea", "within": {"text": "5 %"}}, {"takes_container": True}, Route.LOOKED_UP),
        ({"text": "Tea", "has": {"text": "Shop"}}, {}, Route.LOOKED_UP),
        ({"text": "5 %"}, {}, Route.LOOKED_UP),
        ({"text": "5 %", "role": "title"}, {}, Route.SENT),
        ({"text": "Tea", "within": SNAPSHOT.find(id="row")}, {}, Route.KNOWN),
    ],
)
def test_how_an_action_gets_to_its_node(described: Any, options: Any, route: Route) -> None:
    """A plain matcher is sent; what the device would not understand or survive is looked up."""
    assert target(**described).route(**options) is route


def test_a_node_of_a_snapshot_and_an_index_are_not_sent_as_they_are() -> None:
    """A node is known already; one of several must be counted on the screen."""
    assert target(SNAPSHOT.find(text="Tea")).route() is Route.KNOWN
    assert target(text="Buy").nth(1).route() is Route.LOOKED_UP
