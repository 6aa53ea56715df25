"""A snapshot and its nodes."""

from __future__ import annotations

import gc
import pickle
from weakref import ref

import pytest

from pytest_clawperator.errors import ClawperatorWarning, ErrorCode, SnapshotError
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.tree import Bounds, Node, Snapshot, secret_places
from tests.snapshot.screens import hierarchy, node, screen


def test_each_node_exists_once() -> None:
    """Nodes can be compared and collected, because each is one object."""
    snapshot = screen(node(text="a"))

    found = snapshot.find(text="a")

    assert found is snapshot.nodes[1] is snapshot.root.children[0]
    assert {found: 1}[snapshot.nodes[1]] == 1
    assert found


def test_nodes_are_a_sequence() -> None:
    """All nodes can be counted, indexed, cut and walked."""
    nodes = screen(node(text="a"), node(text="b")).nodes

    assert [found.text for found in nodes] == ["", "a", "b"]
    assert [found.text for found in nodes[1:]] == ["a", "b"]
    assert nodes[-1].text == "b"
    assert nodes.index(nodes[1]) == 1
    assert len(nodes) == 3


def test_a_snapshot_goes_with_its_last_user() -> None:
    """Snapshots hold no cycles, so that waiting for a node does not pile them up."""
    snapshot = screen(node(text="a"))
    assert snapshot.find(text="a")
    repr(snapshot.find(text="b", role="button"))
    watched = ref(snapshot)
    gc.disable()

    del snapshot
    is_gone = watched() is None
    gc.enable()

    assert is_gone


def test_of_several_roots_none_is_lost() -> None:
    """Of several top nodes that say nothing of their size the first is the root."""
    snapshot = Snapshot.from_xml("<hierarchy><node text='a'/><node text='b'/></hierarchy>")

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


def test_all_windows_make_the_screen() -> None:
    """Its size, its app and what is on it are those of all of them, whichever is first."""
    snapshot = several_windows(*WINDOWS)

    assert [root.package for root in snapshot.roots][1:3] == ["com.example.chat", "com.keys"]
    assert snapshot.size == (1080, 2400)
    assert snapshot.foreground_package == "com.example.chat"
    assert snapshot.root is snapshot.roots[1]
    assert all(found.is_on_screen for found in snapshot.nodes)
    assert snapshot.find(desc="Space")


def test_the_outline_and_goldens_have_all_windows() -> None:
    """Neither ends with the first window."""
    snapshot = several_windows(*WINDOWS)

    assert [word in str(snapshot) for word in ("12:00", "Send", "Space")] == [True] * 3
    assert snapshot != several_windows(*WINDOWS[:2])
    assert snapshot == several_windows(*WINDOWS)


def test_the_way_to_a_node_tells_the_window() -> None:
    """Of two windows each has a first node."""
    snapshot = several_windows(*WINDOWS)

    paths = [found.index_path for found in snapshot.nodes]

    assert paths[:4] == [(0,), (0, 0), (1,), (1, 0)]
    assert len(set(paths)) == len(paths)


def test_metadata_of_a_step() -> None:
    """What the step says of the windows comes with the snapshot."""
    data = {
        "foreground_package": "com.android.settings",
        "has_overlay": "true",
        "overlay_package": "com.example.keyboard",
        "window_count": "3",
    }

    snapshot = Snapshot.from_step(hierarchy(rotation=1), data)

    assert snapshot.foreground_package == "com.android.settings"
    assert snapshot.has_overlay is True
    assert snapshot.overlay_package == "com.example.keyboard"
    assert snapshot.window_count == 3
    assert (snapshot.rotation, snapshot.size) == (1, (1080, 2400))


def test_metadata_that_is_absent() -> None:
    """Without the step's word the root's package is the foreground, and the rest unknown."""
    snapshot = Snapshot.from_step(hierarchy(), {"has_overlay": "maybe", "window_count": "many"})

    assert snapshot.foreground_package == "com.example"
    assert snapshot.has_overlay is None
    assert snapshot.overlay_package is None
    assert snapshot.window_count is None


def test_a_step_with_half_a_hierarchy_is_refused() -> None:
    """A step's hierarchy is whole, or it is an error."""
    with pytest.raises(SnapshotError) as caught:
        Snapshot.from_step(hierarchy()[:-20], {})

    assert caught.value.code == ErrorCode.SNAPSHOT_UNREADABLE


def test_a_snapshot_travels() -> None:
    """Snapshots and nodes survive the way between processes whole."""
    snapshot = screen(
        node(text="a\nb\x01\ud83d"), has_overlay=True, overlay_package="com.x", window_count=2
    )

    again, found = pickle.loads(pickle.dumps((snapshot, snapshot.nodes[1])))

    assert found.snapshot is again
    assert found.text == "a\nb\x01\ud83d"
    assert again.xml == snapshot.xml
    assert (again.has_overlay, again.overlay_package, again.window_count) == (True, "com.x", 2)
    assert again.foreground_package == "com.example"


def test_a_partial_snapshot_travels() -> None:
    """On the way it warns of nothing that was not warned of before."""
    with pytest.warns(ClawperatorWarning):
        snapshot = Snapshot.from_xml(hierarchy(node(text="a"))[:-20], partial=True)

    again = pickle.loads(pickle.dumps(snapshot))

    assert again.is_partial
    assert again.find(text="a")


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
    assert not snapshot.find(text="beep")


def test_printing_shows_the_outline() -> None:
    """``str`` has a line for each telling node, ``repr`` is one line whatever is shown."""
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
    """Return the first node in the root."""
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


def test_printed_bounds_are_read() -> None:
    """The printed form comes back, with what can be computed from it."""
    bounds = Bounds.parse("[10,20][110,70]")

    assert bounds == (10, 20, 110, 70)
    assert str(bounds) == "[10,20][110,70]"
    assert (bounds.width, bounds.height, bounds.area) == (100, 50, 5000)
    assert bounds.center == (60, 45)


def test_bounds_inside_out_are_turned() -> None:
    """A node that is scrolled away may be printed with its end before its beginning."""
    bounds = Bounds.parse("[0,2400][1080,2300]")

    assert bounds == (0, 2300, 1080, 2400)


@pytest.mark.parametrize(
    "text", ["", "[1,2]", "[a,0][1,1]", "[0,0][1,1] ", "[0,0][1,1" + "0" * 5000]
)
def test_anything_else_is_no_bounds(text: str) -> None:
    """What is not printed bounds is nothing, however long."""
    assert Bounds.parse(text) is None


@pytest.mark.parametrize(
    ("other", "is_inside"),
    [
        ((0, 0), True),
        ((99, 49), True),
        ((100, 0), False),
        ((0, 50), False),
        ((-1, 0), False),
        (Bounds(0, 0, 100, 50), True),
        (Bounds(1, 1, 101, 50), False),
        (Bounds(-1, 0, 10, 10), False),
    ],
)
def test_right_and_bottom_are_just_outside(
    other: tuple[int, int] | Bounds, is_inside: bool
) -> None:
    """Left and top are inside, right and bottom just outside."""
    assert Bounds(0, 0, 100, 50).contains(other) is is_inside


def test_rectangles_share_what_lies_in_both() -> None:
    """Two rectangles share what lies in both; those that only touch share nothing."""
    bounds = Bounds(0, 0, 100, 50)

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
