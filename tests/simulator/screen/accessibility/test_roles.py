"""Semantic roles of nodes."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.screen.accessibility import UiNode, role_of
from tests.simulator.screen.nodes import FRAME, TEXT, VIEW, node


@pytest.mark.parametrize(
    ("made", "role"),
    [
        (node("androidx.viewpager.widget.ViewPager"), "pager"),
        (node("android.widget.RadioButton"), "button"),
        (node("android.widget.ToggleButton"), "button"),
        (node("android.widget.ImageButton"), "button"),
        (node("android.widget.EditText"), "textfield"),
        (node("android.widget.AutoCompleteTextView"), "textfield"),
        (node("android.widget.Switch"), "switch"),
        (node("android.widget.CheckBox"), "checkbox"),
        (node("androidx.recyclerview.widget.RecyclerView"), "list"),
        (node("androidx.recyclerview.widget.RecyclerView", columns=2), "grid"),
        (node("android.widget.ListView", columns=2), "list"),
        (node("android.widget.GridView"), "grid"),
        (node("androidx.appcompat.widget.Toolbar"), "toolbar"),
        (node("com.google.android.material.tabs.TabLayout"), "tabbar"),
        (node("android.widget.ImageView"), "image"),
        (node("android.widget.ImageView", clickable=True), "icon"),
        (node("com.google.android.material.chip.Chip"), "chip"),
        (node("android.widget.LinearLayout", collection_item=True), "listitem"),
        (node(TEXT, text="A", heading=True), "title"),
        (node(TEXT, heading=True), "unknown"),
        (node("android.widget.LinearLayout"), "container"),
        (node("android.widget.LinearLayout", orientation="horizontal"), "row"),
        (node("android.widget.FrameLayout", orientation="vertical"), "column"),
        (node(TEXT, text="A"), "text"),
        (node(TEXT, text="A", screen_reader_focusable=True), "label"),
        (node(TEXT, text="A", clickable=True), "button"),
        (node(TEXT, text="A text of more than twenty", clickable=True), "text"),
        (node(TEXT, text="Atextofmorethantwentyletters", clickable=True), "button"),
        (node(TEXT, content_desc="A description beyond twenty", clickable=True), "button"),
        (node(VIEW, clickable=True), "unknown"),
        (node("android.widget.ScrollView"), "unknown"),
        (node("ANDROID.WIDGET.BUTTON"), "button"),
    ],
)
def test_the_role_of_a_node_by_itself(made: UiNode, role: str) -> None:
    """Class names come first, then what the service knows, then guesses from the text."""
    assert role_of(made) == role


@pytest.mark.parametrize(
    ("parent", "role"),
    [
        (node("com.google.android.material.tabs.TabLayout"), "tab"),
        (node("com.google.android.material.bottomnavigation.BottomNavigationView"), "tab"),
        (node(FRAME, resource_id="com.stable.app:id/content"), "tab"),
        (node(FRAME, resource_id="com.example:id/Bottom_sheet"), "tab"),
        (node("androidx.appcompat.widget.Toolbar"), "title"),
        (node(FRAME, clickable=True), "button"),
        (node(FRAME), "text"),
    ],
)
def test_the_role_of_a_text_by_its_parent(parent: UiNode, role: str) -> None:
    """What a text is depends on where it stands; tabs are guessed from ids, package included."""
    text = parent.add(node(TEXT, text="A"))
    parent.children.remove(text)

    assert role_of(text) == role


def test_an_ancestor_makes_clickable_for_three_levels() -> None:
    """A text three levels inside something clickable is a button, four levels is a text."""
    depths = []
    for depth in (3, 4):
        current = top = node(VIEW, clickable=True)
        for _ in range(depth):
            current = current.add(node(VIEW))
        current.cls, current.text = TEXT, "A"
        assert top is not current
        depths.append(role_of(current))

    assert depths == ["button", "text"]
