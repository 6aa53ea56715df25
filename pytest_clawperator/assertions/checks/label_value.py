"""The value beside a label, as the Operator finds it."""

from __future__ import annotations

from pytest_clawperator.snapshot.tree import Node

_LISTS = ("list", "grid")


def value_of(node: Node) -> str | None:
    """Return the value that belongs to a node; None if there is none.

    The value of a label is the text that follows it, that of a field its own text. A row
    without a text of its own has its value inside it, after its first label.
    """
    if node.role == "textfield":
        return node.text
    label: Node | None = node
    if not node.label:
        label = next(iter(_labelled([node])), None)
    found = None if label is None else _after(label, node)
    return None if found is None else found.label


def _after(label: Node, given: Node) -> Node | None:
    """Climb until something follows; return its summary, or else its first text."""
    child = label
    while child.parent is not None:
        siblings = [node for node in child.parent.children if node.is_on_screen]
        following = siblings[siblings.index(child) + 1 :]
        if following:
            nodes = _labelled(following)
            summaries = (node for node in nodes if node.resource_id.endswith("/summary"))
            return next(summaries, nodes[0] if nodes else None)
        child = child.parent
        if _is_row(child) or child is given:
            return None  # what follows belongs to another label
    return None


def _is_row(node: Node) -> bool:
    # The device knows the items of a list; a snapshot only shows what lies in one.
    return node.parent is not None and node.parent.role in _LISTS


def _labelled(nodes: list[Node]) -> list[Node]:
    """Return these nodes and those inside them that are on the screen and have a text."""
    every = (each for node in nodes for each in (node, *node.descendants))
    return [node for node in every if node.label and node.is_on_screen]
