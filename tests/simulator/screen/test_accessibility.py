"""The UI tree: roles, search, events, and its XML."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from pytest_clawperator.simulator.screen.accessibility import (
    Bounds,
    UiNode,
    children_on_screen,
    find,
    find_all,
    hierarchy_xml,
    node_path,
    on_screen,
    role_of,
)
from tests.doubles.simulator.screen_phone import Phone, demo
from tests.simulator.screen.nodes import FRAME, SIZE, TEXT, VIEW, node
from tests.simulator.screen.sample_apps import FORM


def test_events_say_what_happened_as_android_prints_it() -> None:
    """Events are printed as Android prints them, and have attributes."""
    phone = demo(FORM)
    phone.events.clear()

    phone.ui.nodes.click(phone.node("Write"))
    phone.ui.nodes.set_text(phone.by_id("name"), "Ann")
    phone.swipe_up(phone.by_id("rows"))
    phone.ui.keys.home()

    sent = [event for event in phone.events if "CONTENT" not in event.type]
    assert [event.type for event in sent] == [
        "TYPE_VIEW_CLICKED",
        "TYPE_VIEW_TEXT_CHANGED",
        "TYPE_VIEW_SCROLLED",
        "TYPE_WINDOW_STATE_CHANGED",
    ]
    clicked, typed, scrolled, _ = sent
    beginning = "EventType: TYPE_VIEW_CLICKED; EventTime: 1000000; PackageName: "
    assert str(clicked).startswith(beginning)
    assert clicked.source is not None
    assert clicked.source.content_desc == "Write"
    assert typed.texts == ("Ann",)
    assert 0 < scrolled.scroll[1] < scrolled.scroll[3]


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
        (node(TEXT, text="\U0001f600 " * 7, clickable=True), "text"),
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
        (node(FRAME, resource_id="NAVİGATİON"), "tab"),
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


@pytest.mark.parametrize(
    ("shown", "wanted", "is_found"),
    [
        ("TITLE", "tıtle", True),
        ("İstanbul", "ISTAN", True),
        ("Paſs", "PASS", True),
        ("Straße", "STRAẞE", True),
        ("Straße", "strasse", False),
        ("ΣΊΣΥΦΟΣ", "σίσυφος", True),
        ("273 K", "273 \u212a", True),
    ],
)
def test_case_is_ignored_as_java_ignores_it(shown: str, wanted: str, is_found: bool) -> None:
    """Characters are compared one by one, in upper and then in lower case."""
    root = node(FRAME, node(TEXT, text=shown), node(VIEW, content_desc=shown))

    for key in ("textContains", "contentDescContains"):
        assert bool(find(root, {key: wanted}, SIZE)) is is_found


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
    assert node_path(root.children[0].children[0]) == "0.0.0"
    root.visible_to_user = False
    assert list(on_screen(root, SIZE)) == [root]


def test_a_tree_is_printed_with_all_attributes_in_order() -> None:
    """Prolog, seventeen attributes in their order, two spaces a level, a newline at the end.

    Five characters are escaped; a newline or an emoji stays as it is.
    """
    root = node(
        FRAME,
        node(TEXT, text="<a & 'b' \"c\">\n😀", resource_id="android:id/title", clickable=True),
        node(VIEW, content_desc="x", bounds=Bounds(1, 2, 3, 4)),
    )

    flags = (
        'checkable="false" checked="false" clickable="{}" enabled="true" focusable="false"'
        ' focused="false" scrollable="false" long-clickable="false" password="false"'
        ' selected="false"'
    )
    assert hierarchy_xml([root], 1) == (
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n"
        '<hierarchy rotation="1">\n'
        f'  <node index="0" text="" resource-id="" class="{FRAME}" package="com.example"'
        f' content-desc="" {flags.format("false")} bounds="[0,0][1080,2400]">\n'
        '    <node index="0" text="&lt;a &amp; &apos;b&apos; &quot;c&quot;&gt;\n😀"'
        f' resource-id="android:id/title" class="{TEXT}"'
        f' package="com.example" content-desc="" {flags.format("true")}'
        ' bounds="[0,0][1080,2400]" />\n'
        f'    <node index="1" text="" resource-id="" class="{VIEW}" package="com.example"'
        f' content-desc="x" {flags.format("false")} bounds="[1,2][3,4]" />\n'
        "  </node>\n"
        "</hierarchy>\n"
    )


def test_every_shipped_screen_prints_as_xml() -> None:
    """What is printed can be parsed, and has the attributes that a phone prints and no others."""
    phone = Phone(start="com.android.settings")

    tree = ET.fromstring(hierarchy_xml([phone.root], 0).encode())
    nodes = list(tree.iter("node"))
    assert len(nodes) == sum(1 for _ in phone.root.walk())
    assert {len(entry.attrib) for entry in nodes} == {17}
    assert all(re.fullmatch(r"(\[\d+,\d+\]){2}", entry.attrib["bounds"]) for entry in nodes)
