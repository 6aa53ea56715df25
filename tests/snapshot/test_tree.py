"""A snapshot and its nodes."""

from __future__ import annotations

import gc
import pickle
from weakref import ref

import pytest

from pytest_clawperator.errors import ClawperatorWarning, ErrorCode, SnapshotError
from pytest_clawperator.snapshot.tree import Snapshot
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
