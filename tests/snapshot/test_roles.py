"""What kind of thing a node is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.snapshot.roles import UNTELLABLE, is_certain
from tests.snapshot.screens import node, screen

LONG = "a sentence that is long enough"


@pytest.mark.parametrize(
    ("attributes", "role"),
    [
        ({"cls": "androidx.viewpager2.widget.ViewPager2"}, "pager"),
        ({"cls": "android.widget.Button"}, "button"),
        ({"cls": "android.widget.RadioButton"}, "button"),
        ({"cls": "android.widget.ImageButton"}, "button"),
        ({"cls": "ANDROID.WIDGET.EDITTEXT"}, "textfield"),
        ({"cls": "android.widget.AutoCompleteTextView"}, "textfield"),
        ({"cls": "android.widget.Switch"}, "switch"),
        ({"cls": "android.widget.CheckBox"}, "checkbox"),
        ({"cls": "androidx.recyclerview.widget.RecyclerView"}, "list"),
        ({"cls": "android.widget.ListView"}, "list"),
        ({"cls": "android.widget.GridView"}, "grid"),
        ({"cls": "android.widget.Toolbar"}, "toolbar"),
        ({"cls": "com.google.android.material.tabs.TabLayout"}, "tabbar"),
        ({"cls": "x.BottomNavigationView"}, "tabbar"),
        ({"cls": "android.widget.ImageView"}, "image"),
        ({"cls": "android.widget.ImageView", "clickable": True}, "icon"),
        ({"cls": "x.Chip"}, "chip"),
        ({"cls": "android.widget.LinearLayout", "text": "a"}, "container"),
        ({"cls": "x.ConstraintLayout"}, "container"),
        ({"cls": "android.view.View"}, "unknown"),
        ({"cls": "android.view.View", "clickable": True}, "unknown"),
        ({"cls": "android.view.View", "desc": "a"}, "text"),
        ({"cls": "android.view.View", "text": " "}, "unknown"),
        ({"cls": "android.view.View", "text": "a", "clickable": True}, "button"),
        ({"cls": "android.view.View", "text": LONG, "clickable": True}, "text"),
        ({"cls": "android.view.View", "desc": LONG, "clickable": True}, "button"),
    ],
)
def test_the_first_rule_that_fits_names_the_role(attributes: dict[str, object], role: str) -> None:
    """The first rule that fits names the role."""
    assert screen(node(**attributes)).nodes[1].role == role


@pytest.mark.parametrize(
    ("parent", "role"),
    [
        ({"cls": "x.TabLayout"}, "tab"),
        ({"id": "com.example:id/bottom_bar"}, "tab"),
        ({"id": "com.tablet:id/x"}, "tab"),  # the whole id counts, its package too
        ({"cls": "android.widget.Toolbar"}, "title"),
        ({"clickable": True}, "button"),
        ({}, "text"),
    ],
)
def test_role_by_parent(parent: dict[str, object], role: str) -> None:
    """What a text is in decides for some roles."""
    assert screen(node(node(text="a"), **parent)).nodes[2].role == role


@pytest.mark.parametrize(("levels", "role"), [(0, "button"), (2, "button"), (3, "text")])
def test_clicks_go_to_near_ancestors(levels: int, role: str) -> None:
    """Three ancestors up a click still counts as the node's own."""
    tree = node(text="a")
    for _ in range(levels):
        tree = node(tree)

    snapshot = screen(node(tree, clickable=True))

    assert snapshot.nodes[-1].role == role


@pytest.mark.parametrize(
    ("attributes", "certain"),
    [
        ({"cls": "android.widget.Button"}, True),
        ({"cls": "android.widget.ListView"}, True),
        ({"cls": "androidx.recyclerview.widget.RecyclerView"}, False),
        ({"cls": "android.widget.GridView"}, False),
        ({"cls": "android.widget.LinearLayout"}, False),
        ({"text": "a"}, False),
    ],
)
def test_a_role_is_certain_where_nothing_unseen_can_change_it(
    attributes: dict[str, object], certain: bool
) -> None:
    """A role is certain where nothing that the XML leaves out can change it."""
    assert is_certain(screen(node(**attributes)).nodes[1]) is certain


@pytest.mark.parametrize("role", sorted(UNTELLABLE))
def test_roles_that_cannot_be_told_are_documented(role: str) -> None:
    """Who wonders why a role finds nothing finds it in the documents."""
    page = Path(__file__).parents[2] / "docs" / "snapshots.md"

    assert f"`{role}`" in page.read_text(encoding="utf-8")
