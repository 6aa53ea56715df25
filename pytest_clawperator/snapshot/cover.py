"""Which node lies over another, as far as a hierarchy tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree  # type: ignore[import-untyped]  # lxml has no types

from pytest_clawperator.snapshot.bounds import Bounds

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.node import Node

# What is drawn after a node, and takes clicks.
_LATER_TARGETS = etree.XPath("following::*[@clickable='true']")
# What is smaller belongs to the layout: a button on a card, a bar below a list.
_LEAST_PART = 0.5


def visible_bounds(node: Node) -> Bounds | None:
    """Return the part of a node's bounds that is on the screen."""
    return node.bounds.intersection(Bounds(0, 0, *node.snapshot.size))


def covering_node(node: Node, *, around: Node) -> Node | None:
    """Return the node that takes the taps on another one, or None.

    Only a large one counts that takes clicks, is drawn later, and lies over all of the node
    that is on the screen; ``around`` is the node itself, or what takes its taps. Nothing tells
    which of several windows is in front.
    """
    shown = visible_bounds(node)
    if shown is None:
        return None
    least = _LEAST_PART * Bounds(0, 0, *node.snapshot.size).area
    for element in _LATER_TARGETS(node._element):
        bounds = Bounds.parse(element.get("bounds", ""))
        if bounds is None or bounds.area < least or bounds.intersection(shown) != shown:
            continue
        cover = node.snapshot._node(element)
        if cover.is_on_screen and around not in cover.ancestors and _share_a_window(node, cover):
            return cover
    return None


def _share_a_window(node: Node, other: Node) -> bool:
    return [node, *node.ancestors][-1] is [other, *other.ancestors][-1]
