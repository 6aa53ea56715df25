"""Finding nodes on the screen as the Operator does, by matchers in wire form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode
from pytest_clawperator.simulator.screen.accessibility.roles import role_of


def _is_on_screen(node: UiNode, size: tuple[int, int]) -> bool:
    """Whether the Operator sees this node, its ancestors aside; touching an edge counts."""
    left, top, right, bottom = node.bounds
    left, right = min(left, right), max(left, right)
    top, bottom = min(top, bottom), max(top, bottom)
    return (
        node.visible_to_user
        and right > left
        and bottom > top
        and right >= 0
        and bottom >= 0
        and left <= size[0]
        and top <= size[1]
    )


def children_on_screen(node: UiNode, size: tuple[int, int]) -> list[UiNode]:
    """List the children that the Operator sees."""
    return [child for child in node.children if _is_on_screen(child, size)]


def on_screen(root: UiNode, size: tuple[int, int]) -> Iterator[UiNode]:
    """Yield what the Operator sees, parents first; the root always, a hidden node's subtree never.

    The nodes are the tree's own, so that they can be acted upon.
    """
    yield root
    if _is_on_screen(root, size):
        for child in root.children:
            if _is_on_screen(child, size):
                yield from on_screen(child, size)


def _matches(node: UiNode, matcher: Mapping[str, str]) -> bool:
    """Whether a node fits every field of a matcher in wire form."""
    return all(_fits(node, field, wanted) for field, wanted in matcher.items())


def _fits(node: UiNode, field: str, wanted: str) -> bool:
    if field == "resourceId":
        return node.resource_id != "" and node.resource_id == wanted
    if field == "role":
        return role_of(node) == wanted.lower()
    if field == "textEquals":
        return node.label == wanted
    if field == "textContains":
        return wanted.lower() in node.label.lower()
    if field == "contentDescEquals":
        return node.content_desc != "" and node.content_desc == wanted
    if field == "contentDescContains":
        return node.content_desc != "" and wanted.lower() in node.content_desc.lower()
    # The Operator's parser ignores keys it does not know.
    return True


def find(root: UiNode, matcher: Mapping[str, str], size: tuple[int, int]) -> UiNode | None:
    """Return the first node on the screen that fits, parents before children."""
    return next(find_all(root, matcher, size), None)


def find_all(root: UiNode, matcher: Mapping[str, str], size: tuple[int, int]) -> Iterator[UiNode]:
    """Yield every node on the screen that fits, in document order."""
    return (node for node in on_screen(root, size) if _matches(node, matcher))


def node_path(node: UiNode) -> str:
    """Return the child indexes from the root to a node, as ``0.3.1``; the root is ``0``."""
    indexes: list[str] = []
    while node.parent is not None:
        indexes.append(str(next(i for i, n in enumerate(node.parent.children) if n is node)))
        node = node.parent
    return ".".join(["0", *reversed(indexes)])
