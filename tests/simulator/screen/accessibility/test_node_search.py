"""Finding nodes on the screen."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.screen.accessibility import (
    Bounds,
    children_on_screen,
    find,
    find_all,
    node_path,
    on_screen,
)
from tests.simulator.screen.nodes import FRAME, SIZE, TEXT, VIEW, node


@pytest.mark.parametrize(
    ("matcher", "found"),
    [
        ({"textEquals": "Hello"}, ["Hello"]),
        ({"textEquals": "hello"}, []),
        ({"textContains": "HELL"}, ["Hello", "Hello again"]),
        ({"textEquals": "described"}, ["described"]),
        ({"contentDescEquals": "described"}, ["described"]),
        ({"contentDescEquals": "Hello"}, []),
        ({"contentDescContains": "CRIB"}, ["described"]),
        ({"contentDescContains": ""}, ["described"]),
        ({"resourceId": "a:id/b"}, ["Hello again"]),
        ({"resourceId": "a:id/B"}, []),
        ({"role": "BUTTON"}, ["Hello again"]),
        ({"role": "text", "textContains": "hello"}, ["Hello"]),
        ({"textEquals": " "}, []),
    ],
)
def test_a_matcher_finds_nodes_by_each_of_its_fields(
    matcher: dict[str, str], found: list[str]
) -> None:
    """All fields must fit; `Contains` and roles ignore case, the rest does not."""
    root = node(
        FRAME,
        node(TEXT, text="Hello"),
        node("android.widget.Button", text="Hello again", resource_id="a:id/b"),
        node(VIEW, text="  ", content_desc="described"),
    )

    assert [made.label for made in find_all(root, matcher, SIZE)] == found


def test_the_first_in_document_order_wins() -> None:
    """Parents come before children, earlier siblings before later ones."""
    inner = node(TEXT, text="A", resource_id="inner")
    root = node(FRAME, node(FRAME, inner, text="A", resource_id="outer"), node(TEXT, text="A"))

    found = find(root, {"textEquals": "A"}, SIZE)
    assert found is not None
    assert found.resource_id == "outer"
    assert find(inner, {"textEquals": "A"}, SIZE) is inner
    assert find(root, {"textEquals": "B"}, SIZE) is None


def test_what_is_off_the_screen_is_not_seen() -> None:
    """Empty, hidden and outside nodes go, with what is in them; touching the edge counts."""
    root = node(
        FRAME,
        node(VIEW, node(TEXT, text="inside hidden"), visible_to_user=False),
        node(TEXT, text="empty", bounds=Bounds(5, 5, 5, 9)),
        node(TEXT, text="below", bounds=Bounds(0, 2401, 10, 2500)),
        node(TEXT, text="touching", bounds=Bounds(0, 2400, 10, 2500)),
        node(TEXT, text="left", bounds=Bounds(-20, 0, -1, 10)),
        node(TEXT, text="turned round", bounds=Bounds(10, 10, 5, 5)),
    )

    assert [made.text for made in on_screen(root, SIZE)] == ["", "touching", "turned round"]
    assert len(children_on_screen(root, SIZE)) == 2


def test_the_root_is_always_seen() -> None:
    """A root that is off the screen stays, without its children."""
    root = node(FRAME, node(TEXT, text="A"), visible_to_user=False)

    assert list(on_screen(root, SIZE)) == [root]


def test_the_path_of_a_node() -> None:
    """A node is named by its raw child indexes from the root."""
    leaf = node(TEXT)
    root = node(FRAME, node(VIEW), node(FRAME, node(VIEW), node(VIEW), leaf))

    assert (node_path(root), node_path(leaf)) == ("0", "0.1.2")
