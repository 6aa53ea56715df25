"""What a page contains of a trace: hierarchies as data, and where actions went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.report.contents import read_tree, touches_of, tree_data
from pytest_clawperator.report.trace import Trace
from tests.report.made_traces import TraceMaker
from tests.snapshot.screens import hierarchy, node, screen


def test_a_hierarchy_becomes_data() -> None:
    """Nodes name their parents by place, and have their attributes as the app showed them."""
    odd = "a\nb\x01\ud800"
    snapshot = screen(node(node(text="a"), node(text="b")), node(text=odd, id="x:id/y"))

    data = tree_data(snapshot)

    assert [one["parent"] for one in data["nodes"]] == [-1, 0, 1, 1, 0]
    assert [one["attributes"]["text"] for one in data["nodes"]] == ["", "", "a", "b", odd]
    assert data["nodes"][4]["attributes"]["resource-id"] == "x:id/y"
    assert data["isPartial"] is False


def test_a_damaged_hierarchy_is_read_as_far_as_it_goes() -> None:
    """What is missing is stated; a text that is not a hierarchy is shown with the reason."""
    whole = hierarchy(node(text="a"), node(text="b"))

    data = read_tree(whole[: whole.index('text="b"')].encode())
    other = read_tree(b"ERROR: null root node")

    assert [one["attributes"].get("text") for one in data["nodes"]] == ["", "a"]
    assert data["isPartial"] is True
    assert "There is no <hierarchy>" in other["problem"]
    assert other["text"] == "ERROR: null root node"


GO = {"matcher": {"textEquals": "Go"}}

TOUCHED = {"bounds": [10, 20, 110, 60], "point": [60, 40]}


def traced(folder: Path, params: Any, *, is_own: bool) -> Trace:
    """Write a snapshot and a click, which has its own snapshot or not."""
    made = TraceMaker(folder)
    tree = hierarchy(node(text="Go", bounds="[10,20][110,60]"))
    made.execute("step", {"type": "snapshot_ui"}, after=tree)
    click = {"type": "click", "params": params}
    made.execute("step", click, before=tree if is_own else None)
    return made.finish()


@pytest.mark.parametrize(
    ("params", "is_own", "touch"),
    [
        (GO, True, TOUCHED),
        (GO, False, TOUCHED),
        ({"coordinate": {"x": 3, "y": 4}}, True, {"point": [3, 4]}),
        ({"matcher": {"textEquals": "Stop"}}, True, None),
        ({"matcher": {"x": 1}}, True, None),
        (5, True, None),
    ],
)
def test_the_touched_place_is_found(
    tmp_path: Path, params: Any, is_own: bool, touch: dict[str, Any] | None
) -> None:
    """On the snapshot of the action or the one before it; what makes no sense is left out."""
    found = touches_of(traced(tmp_path, params, is_own=is_own))

    assert found == ({} if touch is None else {"2": touch})
