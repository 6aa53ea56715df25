"""The UI tree as XML, in the form in which the Operator logs it for a snapshot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

_ESCAPES = str.maketrans(
    {"&": "&amp;", '"': "&quot;", "'": "&apos;", "<": "&lt;", ">": "&gt;"},
)
_SPECIAL = re.compile("[&\"'<>]")
_BOOLEAN = {True: "true", False: "false"}


class Hierarchy(NamedTuple):
    """A printed tree."""

    rotation: int
    xml: str
    node_count: int


def hierarchy_xml(roots: Sequence[UiNode], rotation: int) -> str:
    """Return the trees of windows as XML."""
    return print_hierarchy(roots, rotation).xml


def print_hierarchy(roots: Sequence[UiNode], rotation: int) -> Hierarchy:
    """Print the trees of windows; those of a screen that was printed are not printed again."""
    printed = _PRINTED.get(roots[0])
    if printed is None or printed.rotation != rotation:
        printed = _PRINTED[roots[0]] = _print(roots, rotation)
    return printed


# A screen that has not changed is the same tree, and hosts that wait for something look often.
_PRINTED: WeakKeyDictionary[UiNode, Hierarchy] = WeakKeyDictionary()


def _print(roots: Sequence[UiNode], rotation: int) -> Hierarchy:
    lines = [
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>",
        f'<hierarchy rotation="{rotation}">',
    ]
    for position, root in enumerate(roots):
        _print_node(root, position, "  ", lines)
    lines.append("</hierarchy>\n")
    xml = "\n".join(lines)
    return Hierarchy(rotation, xml, xml.count("<node "))


def _print_node(node: UiNode, index: int, indent: str, lines: list[str]) -> None:
    head = f"{indent}<node {_attributes(node, index)}"
    if not node.children:
        lines.append(f"{head} />")
        return
    lines.append(f"{head}>")
    for position, child in enumerate(node.children):
        _print_node(child, position, indent + "  ", lines)
    lines.append(f"{indent}</node>")


def _attributes(node: UiNode, index: int) -> str:
    bounds = node.bounds
    return (
        f'index="{index}" text="{_escaped(node.text)}" resource-id="{_escaped(node.resource_id)}"'
        f' class="{_escaped(node.cls)}" package="{_escaped(node.package)}"'
        f' content-desc="{_escaped(node.content_desc)}" checkable="{_BOOLEAN[node.checkable]}"'
        f' checked="{_BOOLEAN[node.checked]}" clickable="{_BOOLEAN[node.clickable]}"'
        f' enabled="{_BOOLEAN[node.enabled]}" focusable="{_BOOLEAN[node.focusable]}"'
        f' focused="{_BOOLEAN[node.focused]}" scrollable="{_BOOLEAN[node.scrollable]}"'
        f' long-clickable="{_BOOLEAN[node.long_clickable]}" password="{_BOOLEAN[node.password]}"'
        f' selected="{_BOOLEAN[node.selected]}"'
        f' bounds="[{bounds.left},{bounds.top}][{bounds.right},{bounds.bottom}]"'
    )


def _escaped(text: str) -> str:
    # Looking first is ten times quicker, and hardly any text needs it.
    return text.translate(_ESCAPES) if _SPECIAL.search(text) else text
