"""What a page contains of a trace: hierarchies as data, and where actions went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.report.contents import read_tree, touches_of, tree_data
from pytest_clawperator.report.trace import (
    ExecutionBegan,
    ExecutionEnded,
    Trace,
    TraceWriter,
    read_trace,
)
from tests.report.made_traces import END, HEAD, SERIAL
from tests.snapshot.screens import hierarchy, node, screen


def test_nodes_name_their_parents_by_place() -> None:
    """Nodes are in the order of the tree, and the root has no parent."""
    snapshot = screen(node(node(text="a"), node(text="b")), node(text="c"))

    data = tree_data(snapshot)

    assert [one["parent"] for one in data["nodes"]] == [-1, 0, 1, 1, 0]
    assert [one["attributes"]["text"] for one in data["nodes"]] == ["", "", "a", "b", "c"]
    assert data["isPartial"] is False


def test_attributes_are_what_the_app_showed() -> None:
    """Signs that XML cannot hold come back as they were, and so do line breaks."""
    text = "a\nb\x01\ud800"
    data = tree_data(screen(node(text=text, id="x:id/y")))

    assert data["nodes"][1]["attributes"]["text"] == text
    assert data["nodes"][1]["attributes"]["resource-id"] == "x:id/y"


def test_a_damaged_hierarchy_is_read_as_far_as_it_goes() -> None:
    """What is there is shown, and that something is missing is told."""
    whole = hierarchy(node(text="a"), node(text="b"))
    cut = whole[: whole.index('text="b"')]

    data = read_tree(cut.encode())

    assert [one["attributes"].get("text") for one in data["nodes"]] == ["", "a"]
    assert data["isPartial"] is True


def test_what_is_no_hierarchy_is_told_with_its_text() -> None:
    """The page can say why there is no tree."""
    data = read_tree(b"ERROR: null root node")

    assert "There is no <hierarchy>" in data["problem"]
    assert data["text"] == "ERROR: null root node"


SCREEN = hierarchy(node(text="Go", bounds="[10,20][110,60]"))


def traced(folder: Path, params: Any, *, is_own: bool = True) -> Trace:
    """Write a look and a click, which has a look of its own or not."""
    writer = TraceWriter(folder)
    tree = writer.keep(SCREEN.encode(), ".xml")
    click = {"actions": [{"id": "w", "type": "wait_for_node"}, {"type": "click", "params": params}]}
    sent: list[dict[str, Any]] = [{"actions": [{"id": "s", "type": "snapshot_ui"}]}, click]
    looks = [(None, tree), (tree if is_own else None, None)]
    writer.write(HEAD)
    for number, (payload, (before, after)) in enumerate(zip(sent, looks, strict=True), 1):
        about: dict[str, Any] = {"serial": SERIAL, "title": "step", "payload": payload}
        writer.write(ExecutionBegan(at=100.0 + number, id=number, **about))
        writer.write(
            ExecutionEnded(at=100.5 + number, id=number, seconds=0.5, before=before, after=after)
        )
    writer.write(END)
    writer.close()
    return read_trace(folder)


@pytest.mark.parametrize("is_own", [True, False])
def test_the_node_that_was_clicked_is_found(tmp_path: Path, is_own: bool) -> None:
    """On the look of the action itself, or on the one just before it."""
    trace = traced(tmp_path, {"matcher": {"textEquals": "Go"}}, is_own=is_own)

    assert touches_of(trace) == {"2": {"bounds": [10, 20, 110, 60], "point": [60, 40]}}


def test_a_point_is_what_was_touched(tmp_path: Path) -> None:
    """A click on a coordinate needs no node."""
    trace = traced(tmp_path, {"coordinate": {"x": 3, "y": 4}})

    assert touches_of(trace) == {"2": {"point": [3, 4]}}


@pytest.mark.parametrize("params", [{"matcher": {"textEquals": "Stop"}}, {"matcher": {"x": 1}}, 5])
def test_what_is_not_known_is_left_out(tmp_path: Path, params: Any) -> None:
    """No node fits, or the trace says something that makes no sense."""
    assert touches_of(traced(tmp_path, params)) == {}
