"""A snapshot and its nodes."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from contextlib import suppress
from weakref import ref

import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import (
    ClawperatorWarning,
    ConfigurationError,
    ErrorCode,
    SnapshotError,
)
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.tree import (
    Bounds,
    Node,
    Snapshot,
    covering_node,
    secret_places,
    visible_bounds,
)
from tests.snapshot.screens import hierarchy, node, screen


def test_each_node_exists_once_in_a_sequence() -> None:
    """Nodes can be compared and collected, counted, indexed, sliced and walked."""
    snapshot = screen(node(text="a"), node(text="b"))
    nodes = snapshot.nodes

    found = snapshot.find(text="a")

    assert found is nodes[1] is snapshot.root.children[0]
    assert {found: 1}[nodes[1]] == 1
    assert [found.text for found in nodes] == ["", "a", "b"]
    assert [found.text for found in nodes[1:]] == ["a", "b"]
    assert nodes[-1].text == "b"
    assert nodes.index(nodes[1]) == 1
    assert len(nodes) == 3


def test_a_node_equals_itself_only_and_is_not_its_text() -> None:
    """A comparison with a text or a number, which would be false for every node, is refused."""
    snapshot = screen(node(id="count", text="3 patients"), node(text="3 patients"))
    count, other = snapshot.find(id="count"), snapshot.find_all(text="3 patients")[1]

    comparisons: list[Callable[[], bool]] = [
        lambda: count != "4 patients",
        lambda: count == "3 patients",
        lambda: "4 patients" != count,  # noqa: SIM300 - the sides are the point
        lambda: count != 4,
        lambda: count == 3.0,
        lambda: "4 patients" not in [count],
        lambda: snapshot.find_all(id="count") != ["4 patients"],
    ]
    for compare in comparisons:
        with pytest.raises(ConfigurationError, match=r"cannot be compared with .*\n.*\.text == "):
            compare()
    assert (count == snapshot.find(id="count"), count == other, count != other) == (1, 0, 1)
    assert {count: 1}[snapshot.find(id="count")] == 1
    assert count is not None
    assert count != object()


def test_a_snapshot_goes_with_its_last_user() -> None:
    """Snapshots hold no cycles, so that waiting for a node does not pile them up."""
    snapshot = screen(node(text="a"))
    assert snapshot.find(text="a")
    with suppress(errors.NodeNotFoundError):
        snapshot.find(text="b", role="button")
    watched = ref(snapshot)
    gc.disable()

    del snapshot
    is_gone = watched() is None
    gc.enable()

    assert is_gone


def test_all_windows_make_the_screen() -> None:
    """Size, app, outline, equality and paths count all of them, whichever is first."""
    snapshot = several_windows(*WINDOWS)
    paths = [found.index_path for found in snapshot.nodes]

    assert [root.package for root in snapshot.roots][1:3] == ["com.example.chat", "com.keys"]
    assert snapshot.size == (1080, 2400)
    assert snapshot.foreground_package == "com.example.chat"
    assert snapshot.root is snapshot.roots[1]
    assert all(found.is_on_screen for found in snapshot.nodes)
    assert snapshot.find(desc="Space")
    assert [word in str(snapshot) for word in ("12:00", "Send", "Space")] == [True] * 3
    assert snapshot != several_windows(*WINDOWS[:2])
    assert snapshot == several_windows(*WINDOWS)
    assert paths[:4] == [(0,), (0, 0), (1,), (1, 0)]
    assert len(set(paths)) == len(paths)


def test_the_first_of_windows_without_a_size_is_the_root() -> None:
    """The others are not lost."""
    snapshot = several_windows("<node text='a'/>", "<node text='b'/>")

    assert snapshot.root.text == "a"
    assert snapshot.find(text="b") is snapshot.nodes[1]
    assert snapshot.nodes[1].parent is None


#: Windows as some tools dump them: status bar, app, keyboard and gesture bar side by side.
WINDOWS = (
    node(node(text="12:00"), package="com.android.systemui", bounds="[0,0][1080,80]"),
    node(
        node(text="Send", clickable=True, bounds="[0,1200][1080,1300]"),
        package="com.example.chat",
        bounds="[0,0][1080,1500]",
    ),
    node(node(desc="Space", bounds="[300,2200][700,2300]"), package="com.keys",
         bounds="[0,1500][1080,2400]"),
    node(package="com.android.systemui", bounds="[0,2352][1080,2400]"),
)  # fmt: skip


def several_windows(*windows: str) -> Snapshot:
    """Read a hierarchy with these nodes at its top."""
    return Snapshot.from_xml(f"<hierarchy rotation='0'>{''.join(windows)}</hierarchy>")


def test_metadata_of_a_step_come_with_the_snapshot() -> None:
    """Without them the root's package is the foreground, and the rest unknown."""
    data = {
        "foreground_package": "com.android.settings",
        "has_overlay": "true",
        "overlay_package": "com.example.keyboard",
        "window_count": "3",
    }
    for given, expected in (
        (data, ("com.android.settings", True, "com.example.keyboard", 3)),
        ({"has_overlay": "maybe", "window_count": "many"}, ("com.example", None, None, None)),
    ):
        snapshot = Snapshot.from_step(hierarchy(rotation=1), given)

        about = (snapshot.has_overlay, snapshot.overlay_package, snapshot.window_count)
        assert (snapshot.foreground_package, *about) == expected
        assert (snapshot.rotation, snapshot.size) == (1, (1080, 2400))
    with pytest.raises(SnapshotError) as caught:
        Snapshot.from_step(hierarchy()[:-20], data)
    assert caught.value.code == ErrorCode.SNAPSHOT_UNREADABLE


def test_snapshots_and_nodes_can_be_pickled() -> None:
    """They survive the way between processes whole, and a partial one without a new warning."""
    snapshot = screen(
        node(text="a\nb\x01\ud83d"), has_overlay=True, overlay_package="com.x", window_count=2
    )
    with pytest.warns(ClawperatorWarning):
        partial = Snapshot.from_xml(hierarchy(node(text="a"))[:-20], partial=True)

    again, found = pickle.loads(pickle.dumps((snapshot, snapshot.nodes[1])))
    cut = pickle.loads(pickle.dumps(partial))

    assert found.snapshot is again
    assert found.text == "a\nb\x01\ud83d"
    assert again.xml == snapshot.xml
    assert (again.has_overlay, again.overlay_package, again.window_count) == (True, "com.x", 2)
    assert again.foreground_package == "com.example"
    assert cut.is_partial
    assert cut.find(text="a")


def test_nodes_and_snapshots_show_what_they_are_in_a_line() -> None:
    """Nodes and snapshots say what they are in a line, whatever an app shows."""
    snapshot = screen(
        node(text="OK", id="com.example:id/ok", cls="x.Button", bounds="[0,0][10,10]"),
        node(text='a "b"\n\u202e\ud83d' + "x" * 100),
    )

    assert repr(snapshot.nodes[1]) == '<Node button "OK" com.example:id/ok [0,0][10,10]>'
    assert repr(snapshot.nodes[2]).startswith(r'<Node text "a \"b\"\n\u202e\ud83dxxx')
    assert len(repr(snapshot.nodes[2])) < 100
    assert repr(snapshot) == "<Snapshot of com.example, 3 nodes>"


def test_texts_are_found_among_characters_that_xml_cannot_hold() -> None:
    """The index of labels has the texts of the app, where a blank one gives way to the other."""
    snapshot = screen(
        node(text="be\x07ep"),
        node(text="\x1f", desc="quiet"),
        node(text="plain"),
        node(id="com.example:id/o\x07k"),
    )

    found = [snapshot.find(text=text) for text in ("be\x07ep", "quiet", "plain")]

    assert found == list(snapshot.nodes[1:4])
    assert snapshot.find(id="o\x07k") is snapshot.nodes[4]
    assert "beep" not in snapshot


def test_printing_shows_the_outline() -> None:
    """``str`` has a line for each node of interest, ``repr`` is always one line."""
    rows = "".join(
        f'<node text="Row {n}" class="android.widget.TextView" bounds="[0,{n}][9,{n + 9}]"/>'
        for n in range(60)
    )
    xml = f'<hierarchy><node package="com.example" bounds="[0,0][90,90]">{rows}</node></hierarchy>'

    snapshot = Snapshot.from_xml(xml)

    lines = str(snapshot).splitlines()
    assert lines[0] == "com.example, 61 nodes"
    assert [line.split('"')[1] for line in lines[1:]] == [f"Row {n}" for n in range(60)]
    assert repr(snapshot) == "<Snapshot of com.example, 61 nodes>"


FLAGS = [
    *("checkable", "checked", "clickable", "focusable", "focused", "scrollable"),
    *("long_clickable", "password", "selected"),
]


def first(snapshot: Snapshot) -> Node:
    """Return the first node in the root."""
    return snapshot.nodes[1]


def test_a_node_has_the_attributes_of_the_xml() -> None:
    """Each flag is read from its own attribute; a node is enabled unless the XML denies it."""
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
    for flag in FLAGS:
        on, off = screen(node(**{flag: True}), node()).nodes[1:]
        assert [name for name in FLAGS if getattr(on, name)] == [flag]
        assert getattr(off, flag) is False
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


def test_labels_and_short_ids_are_derived() -> None:
    """A label is the text, or the description of a blank one; a short id has no package."""
    for text, desc, label in (
        ("a", "b", "a"),
        ("", "b", "b"),
        (" \n", "b", "b"),
        (" a ", "b", " a "),
        ("", " ", ""),
        ("", "", ""),
    ):
        assert first(screen(node(text=text, desc=desc))).label == label, (text, desc)
    ids = {"com.example:id/a": "a", "tag": "tag", "a:id/b:id/c": "c", "": ""}
    for whole, short in ids.items():
        assert first(screen(node(id=whole))).short_id == short


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


def test_a_node_that_reaches_into_the_screen_is_on_it() -> None:
    """Without an extent a node is hidden, with its content; unknown bounds count as visible."""
    for bounds, is_on_screen in (
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
    ):
        assert first(screen(node(bounds=bounds))).is_on_screen is is_on_screen, bounds
    inside = screen(node(node(text="in it", bounds="[0,0][10,10]"), bounds="[0,0][0,0]"))
    assert [found.is_on_screen for found in inside.nodes] == [True, False, False]
    # The root is always kept; off the screen it is all there is.
    xml = hierarchy(node(text="a")).replace("[0,0][1080,2400]", "[0,0][0,0]")
    assert [found.is_on_screen for found in Snapshot.from_xml(xml).nodes] == [True, False]


def test_printed_bounds_are_read() -> None:
    """Bounds printed inside out are turned; anything else, however long, is not bounds."""
    bounds = Bounds.parse("[10,20][110,70]")

    assert bounds == (10, 20, 110, 70)
    assert str(bounds) == "[10,20][110,70]"
    assert (bounds.width, bounds.height, bounds.area) == (100, 50, 5000)
    assert bounds.center == (60, 45)
    assert Bounds.parse("[0,2400][1080,2300]") == (0, 2300, 1080, 2400)
    for text in ("", "[1,2]", "[a,0][1,1]", "[0,0][1,1] ", "[0,0][1,1" + "0" * 5000):
        assert Bounds.parse(text) is None


def test_right_and_bottom_are_just_outside() -> None:
    """Left and top are inside; rectangles that only touch share nothing."""
    bounds = Bounds(0, 0, 100, 50)

    for inside in ((0, 0), (99, 49), bounds):
        assert bounds.contains(inside), inside
    outside = ((100, 0), (0, 50), (-1, 0), Bounds(1, 1, 101, 50), Bounds(-1, 0, 10, 10))
    for other in outside:
        assert not bounds.contains(other), other
    assert bounds.intersection(Bounds(90, 40, 200, 200)) == (90, 40, 100, 50)
    assert bounds.intersects(Bounds(90, 40, 200, 200))
    assert not bounds.intersects(Bounds(100, 0, 200, 50))


def test_password_fields_and_texts_with_secrets() -> None:
    """Fields for passwords, and nodes whose text or description holds a secret, are found."""
    SECRETS.add("hunter2")
    SECRETS.add("007")

    places = secret_places(
        screen(
            node(text="••", password=True, bounds="[0,0][1,1]"),
            node(text="It is hunter2!", bounds="[0,0][2,2]"),
            node(desc="hunter2", bounds="[0,0][3,3]"),
            node(text="007", bounds="[0,0][4,4]"),
            node(text="Welcome to 10077", bounds="[0,0][5,5]"),
        )
    )

    assert places == [Bounds(0, 0, size, size) for size in (1, 2, 3, 4)]


WHOLE = "[0,0][1080,2400]"
OK = node(text="OK", bounds="[100,100][300,200]")


def ok_of(snapshot: Snapshot) -> Node:
    """Return the node with the text OK."""
    found = snapshot.find(text="OK")
    assert isinstance(found, Node)
    return found


def test_a_large_clickable_node_that_is_drawn_later_is_a_cover() -> None:
    """A scrim over the whole screen takes the taps, but not those of a node around both."""
    scrim = node(id="scrim", bounds=WHOLE, clickable=True)
    ok = ok_of(screen(OK, scrim))
    in_row = ok_of(screen(node(OK, scrim, id="row", bounds=WHOLE, clickable=True)))

    cover = covering_node(ok, around=ok)

    assert cover is not None
    assert cover.short_id == "scrim"
    assert in_row.parent is not None
    assert covering_node(in_row, around=in_row.parent) is None


@pytest.mark.parametrize(
    "snapshot",
    [
        pytest.param(screen(OK, node(bounds=WHOLE)), id="takes no clicks"),
        pytest.param(screen(node(bounds=WHOLE, clickable=True), OK), id="drawn before"),
        pytest.param(screen(node(OK, bounds=WHOLE, clickable=True)), id="around it"),
        pytest.param(
            screen(OK, node(bounds="[90,90][400,300]", clickable=True)), id="part of a card"
        ),
        pytest.param(
            screen(OK, node(bounds="[0,150][1080,2400]", clickable=True)), id="half of it"
        ),
        # Which of two windows is in front cannot be seen.
        pytest.param(
            several_windows(
                node(OK, bounds=WHOLE), node(node(bounds=WHOLE, clickable=True), bounds=WHOLE)
            ),
            id="another window",
        ),
    ],
)
def test_other_overlapping_nodes_are_not_covers(snapshot: Snapshot) -> None:
    """Layouts are full of nodes that overlap, and few of them are in the way."""
    ok = ok_of(snapshot)

    assert covering_node(ok, around=ok) is None


def test_the_visible_part_of_a_node_ends_at_the_edge_of_the_screen() -> None:
    """A node beyond the edge has no visible part."""
    edge = ok_of(screen(node(text="OK", bounds="[0,2300][1080,2600]")))
    below = ok_of(screen(node(text="OK", bounds="[0,2400][1080,2600]")))

    assert str(visible_bounds(edge)) == "[0,2300][1080,2400]"
    assert visible_bounds(below) is None
