"""Where widgets lie, how big they are, and which of them have nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode
from pytest_clawperator.simulator.screen.app_files.load import shipped_apps
from tests.simulator.screen.phone import CONFORMANCE, SETTINGS, SHOP, Phone, screen_app

SIZES = [(1080, 2400), (720, 1280), (1440, 3120), (320, 480), (2000, 1200)]

LONG_LIST = """\
- list: rows
  items:
    - {row: "Row {number}", summary: "of 200", repeat: 200}
"""


def pairs(root: UiNode) -> Iterator[tuple[UiNode, UiNode]]:
    """Yield every parent with each of its children."""
    for parent in root.walk():
        for child in parent.children:
            yield parent, child


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rotation", [0, 1])
@pytest.mark.parametrize("package", [SETTINGS, SHOP, CONFORMANCE])
def test_everything_lies_inside(package: str, rotation: int, size: tuple[int, int]) -> None:
    """At any size and turn, visible nodes lie inside the screen and inside their parents."""
    phone = Phone(*shipped_apps(), start=package, size=size)
    phone.ui.display.rotation = rotation
    width, height = phone.ui.display.size

    assert (width, height) == (size if not rotation else size[::-1])
    for window in phone.ui.view.windows():
        for parent, child in pairs(window.root):
            if child.visible_to_user:
                assert child.bounds.clipped(parent.bounds) == child.bounds, child
                assert child.bounds.clipped(Bounds(0, 0, width, height)) == child.bounds


def test_sizes_grow_with_the_screen() -> None:
    """Twice as many pixels at twice the density show the same, twice as big."""
    small, big = (
        Phone(*shipped_apps(), start=SETTINGS, size=(540 * factor, 1200 * factor))
        for factor in (1, 2)
    )

    before, after = small.node("Display").bounds, big.node("Display").bounds
    assert (small.ui.display.density, big.ui.display.density) == (210, 420)
    assert all(abs(2 * a - b) <= 12 for a, b in zip(before, after, strict=True))


def test_density_can_be_given() -> None:
    """A higher density makes everything bigger, so less of a list shows."""
    usual, dense = (Phone(screen_app(LONG_LIST), density=density) for density in (420, 600))

    assert len(dense.by_id("rows").children) < len(usual.by_id("rows").children)


def test_a_list_has_nodes_only_for_what_is_in_sight() -> None:
    """Of two hundred rows a screenful is in the tree, in order, without gaps, cut at the edge."""
    phone = Phone(screen_app(LONG_LIST))

    rows = phone.by_id("rows")
    tops = [row.bounds.top for row in rows.children]
    assert 8 <= len(rows.children) <= 14
    assert [row.children[0].text for row in rows.children][:3] == ["Row 1", "Row 2", "Row 3"]
    assert tops[1:] == [row.bounds.bottom for row in rows.children][:-1]
    assert rows.children[-1].bounds.bottom == rows.bounds.bottom
    assert rows.children[-1].bounds.height < rows.children[0].bounds.height


def test_a_scrolled_list_shows_what_comes_next() -> None:
    """A swipe moves the rows by what the finger drags and the list runs on; it ends at the end."""
    phone = Phone(screen_app(LONG_LIST))
    seen = set(phone.texts())

    for _ in range(200):
        before = phone.texts()
        phone.swipe_up(phone.by_id("rows"))
        seen |= set(phone.texts())
        if phone.texts() == before:
            break

    assert {f"Row {number}" for number in range(1, 201)} <= seen
    assert phone.by_id("rows").children[-1].bounds.bottom == phone.by_id("rows").bounds.bottom
    phone.ui.touch.swipe((500, 500), (500, 2300), duration_ms=20)
    assert not phone.has("Row 200")


def test_rows_are_items_of_a_collection() -> None:
    """What lies directly in a list is an item of it; grids say how many columns they have."""
    phone = Phone(
        screen_app("- {list: grid, columns: 3, items: [{text: 'T{number}', repeat: 7}]}\n")
    )

    grid = phone.by_id("grid")
    assert grid.columns == 3
    assert all(child.collection_item for child in grid.children)
    assert len({child.bounds.left for child in grid.children}) == 3
    assert len({child.bounds.top for child in grid.children}) == 3


def test_a_short_list_does_not_scroll() -> None:
    """Only what has more than it can show is scrollable."""
    phone = Phone(screen_app("- {list: rows, items: [{row: A}]}\n"))

    assert not phone.by_id("rows").scrollable
    assert Phone(screen_app(LONG_LIST)).by_id("rows").scrollable


def test_a_scroll_view_has_nodes_for_what_is_out_of_sight() -> None:
    """Unlike a list, it keeps all its children in the tree; those out of sight are not visible."""
    phone = Phone(screen_app("- {scroll: page, items: [{text: 'T{number}', repeat: 100}]}\n"))

    children = phone.by_id("page").children
    assert len(children) == 100
    assert not children[-1].visible_to_user
    assert children[-1].bounds.height == 0
    phone.swipe_up(phone.by_id("page"))
    assert not phone.by_id("page").children[0].visible_to_user


def test_a_list_that_goes_sideways() -> None:
    """Its rows stand side by side, and only a swipe sideways moves it."""
    phone = Phone(
        screen_app(
            """\
            - list: strip
              direction: horizontal
              height: 100
              items: [{card: [{text: "C{number}"}], width: 120, repeat: 20}]
            """
        )
    )
    left, top, right, bottom = phone.by_id("strip").bounds
    middle = (top + bottom) // 2

    phone.ui.touch.swipe((500, middle + 60), (500, middle - 60))
    assert phone.has("C1")
    phone.ui.touch.swipe((right - 100, middle), (left + 100, middle))
    assert not phone.has("C1")
    assert phone.has("C6")


def test_rows_of_different_height() -> None:
    """A summary that needs two lines makes its row higher, and the next one starts below it."""
    phone = Phone(
        screen_app(
            """\
            - list: rows
              items:
                - {row: A}
                - {row: B, summary: short}
                - {row: C, summary: "a summary that goes on and on and on, and then on, so far that
                    one line cannot hold what it has to say"}
                - {row: D}
            """
        )
    )

    heights = [row.bounds.height for row in phone.by_id("rows").children]
    assert heights[0] < heights[1] < heights[2]
    assert heights[3] == heights[0]


def test_a_line_shares_its_width() -> None:
    """Things in a line keep their width; what grows takes the rest."""
    phone = Phone(
        screen_app(
            """\
            - line:
                - {text: A}
                - {field: Name, id: name}
                - {button: Go}
            """
        )
    )

    a, name, go = phone.node("A").bounds, phone.by_id("name").bounds, phone.node("Go").bounds
    assert a.right < name.left < name.right < go.left
    assert name.width > 4 * a.width
    assert go.right > phone.ui.display.size[0] * 0.9


def test_alignment() -> None:
    """A text stands at the start, in the middle or at the end of its line."""
    phone = Phone(screen_app("- {text: A}\n- {text: B, align: center}\n- {text: C, align: end}\n"))

    lefts = [phone.node(text).bounds.left for text in "ABC"]
    assert lefts == sorted(lefts)
    assert abs(sum(phone.node("B").bounds[::2]) - phone.ui.display.size[0]) <= 2


def test_what_is_repeated_over_a_list() -> None:
    """A variable that holds a list repeats a widget for each entry, with its parts at hand."""
    phone = Phone(
        screen_app(
            "- {text: '{number}. {item.name}', repeat: people}\n",
            "state:\n  people: [{name: Ann}, {name: Bob}]\n",
        )
    )

    assert phone.texts() == ["1. Ann", "2. Bob"]


def test_repeats_in_repeats_are_bounded() -> None:
    """However often a file multiplies, a screen is built, with as many nodes as there may be."""
    phone = Phone(
        screen_app("- {scroll: s, items: [{column: [{text: x, repeat: 2000}], repeat: 2000}]}\n")
    )

    assert sum(1 for _ in phone.root.walk()) < 30_000


def test_a_filter_keeps_what_fits() -> None:
    """A list shows the rows that have the wanted text, whatever its case, anywhere inside."""
    phone = Phone(
        screen_app(
            """\
            - {field: Search, id: search, bind: query}
            - list: rows
              filter: query
              items:
                - {row: Apple}
                - {row: Pear, summary: like an apple}
                - {card: [{text: Apple pie}]}
                - {row: Plum}
            """,
            "state: {query: ''}\n",
        )
    )

    phone.ui.nodes.set_text(phone.by_id("search"), "APPLE")
    assert len(phone.by_id("rows").children) == 3
    assert not phone.has("Plum")
    phone.ui.nodes.set_text(phone.by_id("search"), "")
    assert phone.has("Plum")


def test_a_group_leaves_no_trace() -> None:
    """A group shows and hides several widgets, and has no node itself."""
    phone = Phone(
        screen_app(
            "- {group: [{text: A}, {text: B}], visible_if: on}\n- {button: Turn, on_tap:"
            " {toggle: on}}\n",
            "state: {on: true}\n",
        )
    )

    assert phone.texts() == ["A", "B", "Turn"]
    assert phone.node("A").parent is phone.node("Turn").parent
    phone.tap("Turn")
    assert phone.texts() == ["Turn"]


def test_classes_and_flags() -> None:
    """Each kind looks to the accessibility service as its Android twin does."""
    phone = Phone(
        screen_app(
            """\
            - {title: Heading}
            - {text: Plain}
            - {button: Press, desc: Pressable, class: com.example.MyButton}
            - {icon_button: Open menu}
            - {switch: Wi-Fi, checked: on}
            - {checkbox: Agree}
            - {image: A cat}
            - {progress: Loading}
            - {chip: Red, selected_if: "true"}
            - {text: Off, enabled_if: "false", on_long_press: {back: true}}
            """,
            "state: {on: true}\n",
        )
    )

    def described(text: str) -> str:
        node = phone.node(text)
        flags = ("clickable", "checkable", "checked", "heading", "selected", "long_clickable")
        on = [flag for flag in flags if getattr(node, flag)]
        return " ".join([node.cls.rpartition(".")[2], *on, *([] if node.enabled else ["off"])])

    assert [
        described(text)
        for text in ("Heading", "Plain", "Press", "Open menu", "Wi-Fi", "Agree", "A cat")
    ] == [
        "TextView heading",
        "TextView",
        "MyButton clickable",
        "ImageButton clickable",
        "Switch clickable checkable checked",
        "CheckBox clickable checkable",
        "ImageView",
    ]
    assert [described(text) for text in ("Loading", "Red", "Off")] == [
        "ProgressBar",
        "Chip selected",
        "TextView long_clickable off",
    ]
    assert phone.node("Open menu").text == ""
    assert phone.node("Press").content_desc == "Pressable"


def test_ids() -> None:
    """A short id gets the app's package; a whole one stays; values are filled in."""
    phone = Phone(
        screen_app(
            "- {text: A, id: a}\n- {text: B, id: 'android:id/b'}\n- {text: C, id: 'c{1 + 1}'}\n"
        )
    )

    assert [phone.node(text).resource_id for text in "ABC"] == [
        "com.example.demo:id/a", "android:id/b", "com.example.demo:id/c2",
    ]  # fmt: skip


def test_a_row_and_its_parts() -> None:
    """A row is a layout that takes the touch, with icon, title, summary and switch inside."""
    phone = Phone(
        screen_app(
            "- {row: Wi-Fi, summary: HomeNet, icon: true, switch: on, id: wifi}\n",
            "state: {on: true}\n",
        )
    )

    row = phone.by_id("wifi")
    assert row.cls == "android.widget.LinearLayout"
    assert (row.clickable, row.text) == (True, "")
    assert [part.resource_id for part in row.children] == [
        "android:id/icon", "android:id/title", "android:id/summary", "android:id/switch_widget",
    ]  # fmt: skip
    assert [part.kind for part in row.children] == ["icon", "row_title", "row_summary", "switch"]
    assert row.children[-1].checked
    assert not any(part.clickable for part in row.children)


def test_fields() -> None:
    """An empty field says its hint, a password says bullets, and both are editable."""
    phone = Phone(screen_app("- {field: Name, id: a}\n- {field: Secret, id: b, password: true}\n"))
    assert [phone.by_id(name).text for name in "ab"] == ["Name", "Secret"]

    phone.ui.nodes.set_text(phone.by_id("a"), "Ann")
    phone.ui.nodes.set_text(phone.by_id("b"), "abc")

    assert [phone.by_id(name).text for name in "ab"] == ["Ann", "•••"]
    assert [phone.by_id(name).password for name in "ab"] == [False, True]
    assert all(phone.by_id(name).editable for name in "ab")
    assert phone.by_id("b").hint == "Secret"
