"""Targets are read from every form they may be given in, and found on a snapshot."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.target import Route, Target, container_of, inside, target_of
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import (
    ConfigurationError,
    ExecutionValidationError,
)
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.doubles.runner import PACKAGE, SHOP, Phone, client, node, screen

SNAPSHOT = Snapshot.from_xml(SHOP)


CLAW = client(Phone())


def target(given: Any = None, /, **options: Any) -> Target:
    """Read a target as a method named click would; its parts may be targets themselves."""
    around = {
        name: Locator(part, CLAW) if isinstance(part := options.pop(name), Target) else part
        for name in ("within", "has")
        if name in options
    }
    given = Locator(given, CLAW) if isinstance(given, Target) else given
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
        (None, {"text": None}, "no node is described: text= is None", "Give a text"),
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
        ({"text": "Buy", "within": {"id": f"{PACKAGE}:id/row"}}, ["Buy", "Buy", "Buy"]),
        ({"text": "Milk", "within": target(id="row")}, ["Milk"]),
        ({"text": "Milk", "within": target(id="row").nth(0)}, []),
        ({"text": "Milk", "within": target(id="row").nth(-2)}, ["Milk"]),
        ({"text_contains": "r", "within": target(id="row")}, ["Bread"]),
        ({"role": "button", "within": target(id="row")}, ["Buy", "Buy", "Buy"]),
        ({"id": "row", "has": NodeMatcher.of(text="Milk")}, ["Milk"]),
        ({"text": "Buy", "has": NodeMatcher.of(text="Buy")}, []),
        ({"text": "Buy", "within": NodeMatcher.of(text="Wine")}, []),
        ({"text": "Tea", "within": SNAPSHOT.find_all(id="row")[1]}, []),
        ({"text": "Milk", "within": SNAPSHOT.find_all(id="row")[1]}, ["Milk"]),
        # A node of the snapshot is inside what is around it, and nothing else.
        ({"id": "row", "has": SNAPSHOT.find_all(id="name")[1]}, ["Milk"]),
    ],
)
def test_what_is_around_and_inside(described: Any, expected: list[str]) -> None:
    """It is inside any of the nodes around it, and contains each node that it must contain."""
    nodes = target(**described).resolve(SNAPSHOT)

    assert [node.label or node.children[0].label for node in nodes] == expected


NESTED = Snapshot.from_xml(
    screen(
        node(
            node(node(text="Deep", id="box"), text="Inner", id="box"),
            node(text="Twin", id="leaf"),
            text="Outer",
            id="box",
        ),
        node(node(text="Twin", id="leaf"), text="Other", id="box"),
    )
)
BOX, LEAF, TWIN, DEEP = {"id": "box"}, {"id": "leaf"}, {"text": "Twin"}, {"text": "Deep"}


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        # Strictly inside: no node is in itself; a node in two containers is listed once.
        (inside(target(**BOX), target(**BOX)), ["Inner", "Deep"]),
        (inside(target(text="Outer"), target(text="Outer")), []),
        (inside(target(**BOX), target(**TWIN)), ["Twin", "Twin"]),
        (inside(target(**BOX), target(**DEEP)), ["Deep"]),
        (inside(inside(target(**BOX), target(**BOX)), target(**BOX)), ["Deep"]),
        # Indices count what is in all containers, in the order of the tree.
        (inside(target(**BOX), target(**LEAF)).nth(-1), ["Twin"]),
        (inside(target(**BOX).nth(1), target(**BOX)).nth(0), ["Deep"]),
        (inside(target(**BOX).nth(-1), target(**LEAF)), ["Twin"]),
        (inside(target(**BOX).nth(1), target(**LEAF)), []),
        # What a node has is strictly inside it, too, and so is what is counted.
        (target(**BOX, has=target(**BOX)), ["Outer", "Inner"]),
        (target(**BOX, has=target(**BOX).nth(0)), ["Outer", "Inner"]),
        (target(**BOX, has=target(**BOX).nth(1)), ["Outer"]),
        (target(**BOX, has=inside(target(**BOX), target(**BOX))), ["Outer"]),
        # Each of several must be there.
        (target(target(**BOX, has=target(**TWIN)), has=target(**DEEP)), ["Outer"]),
        (target(target(**BOX, has=target(**DEEP)), has=target(**TWIN)), ["Outer"]),
        (target(target(**BOX, has=target(**TWIN)), has=target(text="Wine")), []),
    ],
)  # fmt: skip
def test_inside_means_strictly_inside(described: Target, expected: list[str]) -> None:
    """That is so for what is around a node, for what it has, and for what is counted."""
    assert [node.label for node in described.resolve(NESTED)] == expected


def test_one_of_several_cannot_be_narrowed_any_more() -> None:
    """Whether has= would count before or after the index is not guessed."""
    with pytest.raises(ConfigurationError, match="one node already"):
        target(target(**BOX).nth(1), has=target(**TWIN))

    both = target(target(**BOX, has=target(**TWIN)), has=target(**DEEP))
    assert str(both) == "node(id='box', has=node(text='Twin'), has=node(text='Deep'))"


AWAY = Snapshot.from_xml(
    screen(
        node(text="Card 1", id="card", bounds="[0,0][100,50]"),
        node(
            node(text="Late", bounds="[0,5000][100,5010]"),
            text="Card 2",
            id="card",
            bounds="[0,5000][100,5050]",
        ),
    )
)
CARD, LATE = {"id": "card"}, {"text": "Late"}


@pytest.mark.parametrize(
    ("described", "anywhere"),
    [
        (target(**CARD, has=target(**LATE)), ["Card 2"]),
        (inside(target(**CARD), target(**LATE)), ["Late"]),
        (inside(target(**CARD).nth(1), target(**LATE)), ["Late"]),
        (inside(target(**CARD).nth(0), target(**LATE)), []),
        (target(**CARD).nth(1), ["Card 2"]),
        (target(AWAY.find_all(**LATE, on_screen=False)[0]), ["Late"]),
    ],
)
def test_off_the_screen(described: Target, anywhere: list[str]) -> None:
    """What is in the tree is found there, with all that is around it and in it."""
    assert described.resolve(AWAY) == []
    assert [node.label for node in described.resolve(AWAY, on_screen=False)] == anywhere


def test_what_is_on_the_screen_is_in_the_tree() -> None:
    """An index means a node on the screen, even if others come before it in the tree."""
    xml = screen(
        node(id="card", bounds="[0,5000][100,5050]"),
        node(node(text="Early"), id="card", bounds="[0,0][100,50]"),
    )
    early = inside(target(**CARD).nth(0), target(text="Early"))
    snapshot = Snapshot.from_xml(xml)

    assert early.resolve(snapshot) == early.resolve(snapshot, on_screen=False) != []


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


LINE = node(kind="View", bounds="[0,60][100,61]")
LINES = Snapshot.from_xml(screen(node(text="Home"), LINE, LINE))
ICON = Snapshot.from_xml(screen(node(kind="ImageButton"), node(text="Home")))


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(LINES.nodes[3], id="nothing"),
        pytest.param(ICON.nodes[1], id="a role, as on any screen"),
        pytest.param(SNAPSHOT.find_all(id="row")[0], id="an id that others have, too"),
    ],
)
def test_a_node_that_cannot_be_recognised_is_an_error(given: Node) -> None:
    """It is neither there nor gone on another snapshot, in whatever part of a target it is."""
    later = Snapshot.from_xml(SHOP)
    targets = (target(given), target(id="row", has=given), target(text="Tea", within=given))

    for each in targets:
        with pytest.raises(ConfigurationError, match="cannot be found again"):
            each.resolve(later)
    assert target(given).resolve(given.snapshot) == [given]


def test_a_node_is_recognised_by_what_is_its_alone() -> None:
    """The first name is not that of another product that has become the first."""
    tea = SNAPSHOT.find_all(id="name")[0]
    sold = Snapshot.from_xml(SHOP.replace("Tea", "Wine"))

    assert target(tea).resolve(sold) == []


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
        ({"id": "name", "within": {"text": "Tea"}}, {}, Route.LOOKED_UP),
        ({"text": "Tea", "within": {"text": "Shop"}}, {}, Route.LOOKED_UP),
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
