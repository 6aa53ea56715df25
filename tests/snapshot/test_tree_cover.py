"""Which node lies over another."""

from __future__ import annotations

import pytest

from pytest_clawperator.snapshot.tree import Node, Snapshot, covering_node, visible_bounds
from tests.doubles.runner import node, screen

WHOLE = "[0,0][1080,2400]"


def found(*nodes: str) -> Node:
    """Return the node with the text OK of a screen."""
    ok = Snapshot.from_xml(screen(*nodes)).find(text="OK")
    assert isinstance(ok, Node)
    return ok


OK = node(text="OK", bounds="[100,100][300,200]")


def test_a_large_node_that_is_drawn_later_and_takes_clicks_is_a_cover() -> None:
    """A scrim over the whole screen takes the taps."""
    ok = found(OK, node(id="scrim", bounds=WHOLE, clickable=True))

    cover = covering_node(ok, around=ok)

    assert cover is not None
    assert cover.short_id == "scrim"


def test_a_window_beside_it_is_no_cover() -> None:
    """Nothing tells which of two windows is in front."""
    scrim = node(id="scrim", bounds=WHOLE, clickable=True)
    xml = f"<hierarchy>{node(OK, bounds=WHOLE)}{node(scrim, bounds=WHOLE)}</hierarchy>"
    ok = Snapshot.from_xml(xml).find(text="OK")
    assert isinstance(ok, Node)

    assert covering_node(ok, around=ok) is None


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param((OK, node(bounds=WHOLE)), id="takes no clicks"),
        pytest.param((node(bounds=WHOLE, clickable=True), OK), id="drawn before"),
        pytest.param((node(OK, bounds=WHOLE, clickable=True),), id="around it"),
        pytest.param((OK, node(bounds="[90,90][400,300]", clickable=True)), id="part of a card"),
        pytest.param((OK, node(bounds="[0,150][1080,2400]", clickable=True)), id="half of it"),
    ],
)
def test_what_is_no_cover(nodes: tuple[str, ...]) -> None:
    """Layouts are full of nodes that overlap, and few of them are in the way."""
    ok = found(*nodes)

    assert covering_node(ok, around=ok) is None


def test_what_is_in_the_node_that_takes_the_tap_is_no_cover() -> None:
    """A large row with a button inside it takes the taps on its label all the same."""
    inner = node(bounds=WHOLE, clickable=True)
    ok = found(node(OK, inner, id="row", bounds=WHOLE, clickable=True))
    row = ok.parent
    assert row is not None

    assert covering_node(ok, around=row) is None


def test_the_visible_part_of_a_node() -> None:
    """What is beyond the edge of the screen is not visible."""
    edge = found(node(text="OK", bounds="[0,2300][1080,2600]"))
    below = found(node(text="OK", bounds="[0,2400][1080,2600]"))

    assert str(visible_bounds(edge)) == "[0,2300][1080,2400]"
    assert visible_bounds(below) is None
