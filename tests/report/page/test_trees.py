"""Hierarchies as data: what the snapshot says, for scripts."""

from __future__ import annotations

from pytest_clawperator.report.contents import read_tree, tree_data
from tests.snapshot.screens import hierarchy, node, screen


def test_nodes_name_their_parents_by_place() -> None:
    """Nodes are in the order of the tree, and the root has no parent."""
    snapshot = screen(node(node(text="a"), node(text="b")), node(text="c"))

    data = tree_data(snapshot)

    assert [one["parent"] for one in data["nodes"]] == [-1, 0, 1, 1, 0]
    assert [one["attributes"]["text"] for one in data["nodes"]] == ["", "", "a", "b", "c"]
    assert data["isPartial"] is False


def test_attributes_are_what_the_app_showed() -> None:
    """Signs that XML cannot hold come back as they were, and so do line breaks."""
    text = "a\nb\x01\ud800"
    data = tree_data(screen(node(text=text, id="x:id/y")))

    assert data["nodes"][1]["attributes"]["text"] == text
    assert data["nodes"][1]["attributes"]["resource-id"] == "x:id/y"


def test_a_damaged_hierarchy_is_read_as_far_as_it_goes() -> None:
    """What is there is shown, and that something is missing is told."""
    whole = hierarchy(node(text="a"), node(text="b"))
    cut = whole[: whole.index('text="b"')]

    data = read_tree(cut.encode())

    assert [one["attributes"].get("text") for one in data["nodes"]] == ["", "a"]
    assert data["isPartial"] is True


def test_what_is_no_hierarchy_is_told_with_its_text() -> None:
    """The page can say why there is no tree."""
    data = read_tree(b"ERROR: null root node")

    assert "There is no <hierarchy>" in data["problem"]
    assert data["text"] == "ERROR: null root node"
