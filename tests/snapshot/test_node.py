"""A node gives its attributes, its relatives, and whether it is on the screen."""

from __future__ import annotations

import pytest

from pytest_clawperator.snapshot.bounds import Bounds
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.snapshot.screens import hierarchy, node, screen

FLAGS = [
    "checkable",
    "checked",
    "clickable",
    "focusable",
    "focused",
    "scrollable",
    "long_clickable",
    "password",
    "selected",
]


def first(snapshot: Snapshot) -> Node:
    """Give the first node in the root."""
    return snapshot.nodes[1]


def test_a_node_tells_its_attributes() -> None:
    """Everything that the XML says of a node can be read off it."""
    found = first(
        screen(
            node(
                index=3,
                text='It\'s <OK> & "fine"',
                id="com.example:id/ok",
                cls="android.widget.Button",
                package="com.example",
                desc="Accept",
                bounds="[10,20][110,70]",
            )
        )
    )

    assert found.text == 'It\'s <OK> & "fine"'
    assert found.content_desc == "Accept"
    assert (found.resource_id, found.short_id) == ("com.example:id/ok", "ok")
    assert found.class_name == "android.widget.Button"
    assert found.package == "com.example"
    assert found.role == "button"
    assert found.bounds == Bounds(10, 20, 110, 70)
    assert found.index == 3
    assert found.enabled


@pytest.mark.parametrize("flag", FLAGS)
def test_each_flag_is_read_from_its_own_attribute(flag: str) -> None:
    """Each flag is read from its own attribute."""
    snapshot = screen(node(**{flag: True}), node())

    on, off = snapshot.nodes[1:]

    assert [name for name in FLAGS if getattr(on, name)] == [flag]
    assert getattr(off, flag) is False


def test_a_node_is_enabled_unless_the_xml_denies_it() -> None:
    """A node is enabled unless the XML says that it is not."""
    snapshot = Snapshot.from_xml("<hierarchy><node><node enabled='false'/></node></hierarchy>")

    assert [found.enabled for found in snapshot.nodes] == [True, False]


def test_missing_attributes_are_absent_and_hide_nothing() -> None:
    """What the XML does not say is absent, and hides nothing."""
    snapshot = Snapshot.from_xml("<hierarchy><node><node/><node text='a'/></node></hierarchy>")

    found = snapshot.nodes[2]

    assert (found.resource_id, found.short_id, found.class_name) == ("", "", "")
    assert found.bounds == Bounds(0, 0, 0, 0)
    assert found.index == 1
    assert found.is_on_screen
    assert snapshot.find(text="a") is found
    assert (snapshot.rotation, snapshot.foreground_package) == (0, None)


@pytest.mark.parametrize(
    ("text", "desc", "label"),
    [
        ("a", "b", "a"),
        ("", "b", "b"),
        (" \n", "b", "b"),
        (" a ", "b", " a "),
        ("", " ", ""),
        ("", "", ""),
    ],
)
def test_the_label_is_the_text_or_the_description(text: str, desc: str, label: str) -> None:
    """The label is the text, or the description where the text is blank; it is not trimmed."""
    assert first(screen(node(text=text, desc=desc))).label == label


@pytest.mark.parametrize(
    ("id", "short"), [("com.example:id/a", "a"), ("tag", "tag"), ("a:id/b:id/c", "c"), ("", "")]
)
def test_the_short_id_is_without_the_package(id: str, short: str) -> None:
    """The short id is what stands after the package, or the whole where there is none."""
    assert first(screen(node(id=id))).short_id == short


def test_relatives_lead_through_the_tree() -> None:
    """Parents, children, ancestors and descendants lead through the tree, parents first."""
    snapshot = screen(node(node(text="a"), node(node(text="b")), text="row"), node(text="c"))
    row, b = snapshot.find(text="row"), snapshot.find(text="b")
    assert row
    assert b

    assert [found.text for found in row.children] == ["a", ""]
    assert [found.text for found in row.descendants] == ["a", "", "b"]
    assert list(b.ancestors) == [b.parent, row, snapshot.root]
    assert row.parent is snapshot.root
    assert snapshot.root.parent is None
    assert b.index_path == (0, 1, 0)
    assert snapshot.root.index_path == ()
    assert [found.text for found in snapshot.nodes] == ["", "row", "a", "", "b", "c"]
    assert len(snapshot) == 6


@pytest.mark.parametrize(
    ("bounds", "is_on_screen"),
    [
        ("[0,0][10,10]", True),
        ("[1080,0][1100,10]", True),  # touching the edge counts
        ("[1081,0][1100,10]", False),
        ("[0,2400][10,2500]", True),
        ("[0,2401][10,2500]", False),
        ("[-10,-10][0,0]", True),
        ("[-10,-10][-1,5]", False),
        ("[0,0][0,10]", False),
        ("[0,10][10,10]", False),
        ("[10,10][0,0]", True),  # printed inside out
        ("somewhere", True),
    ],
)
def test_what_reaches_into_the_screen_is_on_it(bounds: str, is_on_screen: bool) -> None:
    """What has an extent and reaches into the screen is on it; the unknown counts as visible."""
    assert first(screen(node(bounds=bounds))).is_on_screen is is_on_screen


def test_what_is_in_a_hidden_node_is_hidden() -> None:
    """With a node the Operator drops all that is in it."""
    snapshot = screen(node(node(text="in it", bounds="[0,0][10,10]"), bounds="[0,0][0,0]"))

    assert not snapshot.nodes[2].is_on_screen
    assert snapshot.root.is_on_screen


def test_a_root_without_extent_is_kept_alone() -> None:
    """The root is always kept; off the screen it is all there is."""
    xml = hierarchy(node(text="a")).replace("[0,0][1080,2400]", "[0,0][0,0]")

    snapshot = Snapshot.from_xml(xml)

    assert [found.is_on_screen for found in snapshot.nodes] == [True, False]
