"""Measuring and placing the widgets of a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.simulator.apps.load import shipped_apps
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode, children_on_screen
from tests.doubles.simulator.screen_phone import CONFORMANCE, SETTINGS, SHOP, Phone, screen_app
from tests.simulator.screen.sample_apps import LONG_LIST


def test_a_long_summary_makes_its_row_higher() -> None:
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


def test_a_filter_keeps_the_rows_with_the_wanted_text() -> None:
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


SIZES = [(1080, 2400), (720, 1280), (1440, 3120), (320, 480), (2000, 1200)]


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


def test_a_list_has_nodes_only_for_what_is_in_sight() -> None:
    """Of two hundred rows a screenful is in the tree, in order, without gaps, cut at the edge."""
    phone = Phone(screen_app(LONG_LIST))

    rows = phone.by_id("rows")
    assert rows.scrollable
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


def test_a_scroll_view_has_nodes_for_what_is_out_of_sight() -> None:
    """Unlike a list, it keeps all its children in the tree; those out of sight are not visible."""
    phone = Phone(screen_app("- {scroll: page, items: [{text: 'T{number}', repeat: 100}]}\n"))

    children = phone.by_id("page").children
    assert len(children) == 100
    assert not children[-1].visible_to_user
    assert children[-1].bounds.height == 0
    phone.swipe_up(phone.by_id("page"))
    assert not phone.by_id("page").children[0].visible_to_user


def test_only_a_swipe_sideways_moves_a_horizontal_list() -> None:
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


def test_a_line_shares_its_width() -> None:
    """Things in a line keep their width; what grows takes the rest. Texts can be aligned."""
    items = """\
    - {line: [{text: A}, {field: Name, id: name}, {button: Go}]}
    - {text: B, align: center}
    - {text: C, align: end}
    - {list: rows, items: [{row: D}]}
    """
    phone = Phone(screen_app(items))

    a, name, go = phone.node("A").bounds, phone.by_id("name").bounds, phone.node("Go").bounds
    width = phone.ui.display.size[0]
    assert a.right < name.left < name.right < go.left
    assert name.width > 4 * a.width
    assert go.right > width * 0.9
    assert abs(sum(phone.node("B").bounds[::2]) - width) <= 2
    assert phone.node("C").bounds.left > phone.node("B").bounds.left
    assert not phone.by_id("rows").scrollable


def signature(phone: Phone, node: UiNode) -> list[str]:
    """Describe a list's position as the Operator does."""
    return [
        f"{child.resource_id}@{child.bounds.top}"
        for child in children_on_screen(node, phone.ui.display.size)[:3]
    ]


@pytest.mark.parametrize("rotation", [0, 1])
@pytest.mark.parametrize("size", [(1080, 2400), (1080, 1920), (720, 1600), (1440, 3120)])
def test_a_scroll_is_never_mistaken_for_the_end(size: tuple[int, int], rotation: int) -> None:
    """The Operator knows a list has moved by where its first rows lie; the apps' lists allow it."""
    phone = Phone(*shipped_apps(), size=size, start=SETTINGS)
    phone.ui.display.rotation = rotation

    before = signature(phone, phone.scrollable())
    for _ in range(3):
        phone.swipe_up(phone.scrollable())
        after = signature(phone, phone.scrollable())
        assert after != before
        before = after
