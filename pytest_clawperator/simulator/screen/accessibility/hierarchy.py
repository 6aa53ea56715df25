"""What the Operator makes of a UI tree: its printed form, semantic roles, and finding nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from weakref import WeakKeyDictionary

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

_ESCAPES = str.maketrans(
    {"&": "&amp;", '"': "&quot;", "'": "&apos;", "<": "&lt;", ">": "&gt;"},
)
_SPECIAL = re.compile("[&\"'<>]")
_BOOLEAN = {True: "true", False: "false"}

# The first class name part that fits decides; the order is part of the behaviour, so that
# a RadioButton is a button.
_ROLE_OF_CLASS = (
    ("viewpager", "pager"),
    ("button", "button"),
    ("edittext", "textfield"),
    ("autocompletetextview", "textfield"),
    ("switch", "switch"),
    ("checkbox", "checkbox"),
    ("recyclerview", "list"),
    ("listview", "list"),
    ("gridview", "grid"),
    ("toolbar", "toolbar"),
    ("tablayout", "tabbar"),
    ("bottomnavigationview", "tabbar"),
    ("imageview", "image"),
    ("chip", "chip"),
)
_LAYOUTS = ("linearlayout", "framelayout", "constraintlayout", "coordinatorlayout")
_CLICKABLE_ANCESTORS = 3
_LONG_TEXT = 20


def hierarchy_xml(root: UiNode, rotation: int) -> str:
    """Print a tree as the Operator logs it for a snapshot."""
    printed = _PRINTED.get(root)
    if printed is None or printed[0] != rotation:
        printed = _PRINTED[root] = (rotation, _print(root, rotation))
    return printed[1]


# A screen that has not changed is the same tree, and hosts that wait for something look often.
_PRINTED: WeakKeyDictionary[UiNode, tuple[int, str]] = WeakKeyDictionary()


def _print(root: UiNode, rotation: int) -> str:
    lines = [
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>",
        f'<hierarchy rotation="{rotation}">',
    ]
    _print_node(root, 0, "  ", lines)
    lines.append("</hierarchy>\n")
    return "\n".join(lines)


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


def role_of(node: UiNode) -> str:
    """Name a node's semantic role as the Operator infers it; the first rule that fits wins."""
    has_text = bool(node.label)
    if has_text and _is_in_tabs(node.parent):
        return "tab"
    cls = node.cls.lower()
    clickable = _effectively_clickable(node)
    by_class = _class_role(node, cls, clickable=clickable)
    if by_class is not None:
        return by_class
    if node.collection_item:
        return "listitem"
    if node.heading and has_text:
        return "title"
    if any(layout in cls for layout in _LAYOUTS):
        return {"horizontal": "row", "vertical": "column"}.get(node.orientation or "", "container")
    if not has_text:
        return "unknown"
    return _text_role(node, clickable=clickable)


def _is_in_tabs(parent: UiNode | None) -> bool:
    if parent is None:
        return False
    cls, resource = parent.cls.lower(), parent.resource_id.lower()
    return (
        "tablayout" in cls
        or "bottomnavigationview" in cls
        or any(word in resource for word in ("tab", "navigation", "bottom"))
    )


def _effectively_clickable(node: UiNode) -> bool:
    ancestor: UiNode | None = node
    for _ in range(_CLICKABLE_ANCESTORS + 1):
        if ancestor is None:
            return False
        if ancestor.clickable:
            return True
        ancestor = ancestor.parent
    return False


def _class_role(node: UiNode, cls: str, *, clickable: bool) -> str | None:
    role = next((role for part, role in _ROLE_OF_CLASS if part in cls), None)
    if role == "list" and "recyclerview" in cls and (node.columns or 0) > 1:
        return "grid"
    if role == "image" and clickable:
        return "icon"
    return role


def _text_role(node: UiNode, *, clickable: bool) -> str:
    if clickable:
        return "text" if " " in node.text and len(node.text) > _LONG_TEXT else "button"
    if node.parent is not None and "toolbar" in node.parent.cls.lower():
        return "title"
    return "label" if node.screen_reader_focusable else "text"


def is_on_screen(node: UiNode, size: tuple[int, int]) -> bool:
    """Tell whether the Operator keeps this node, its ancestors aside; touching an edge counts."""
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
    return [child for child in node.children if is_on_screen(child, size)]


def on_screen(root: UiNode, size: tuple[int, int]) -> Iterator[UiNode]:
    """Yield what the Operator sees, parents first; the root always, a hidden node's subtree never.

    The nodes are the tree's own, so that they can be acted upon.
    """
    yield root
    if is_on_screen(root, size):
        for child in root.children:
            if is_on_screen(child, size):
                yield from on_screen(child, size)


def matches(node: UiNode, matcher: Mapping[str, str]) -> bool:
    """Tell whether a node fits every field of a matcher in wire form."""
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
    """Give the first node on the screen that fits, parents before children."""
    return next(find_all(root, matcher, size), None)


def find_all(root: UiNode, matcher: Mapping[str, str], size: tuple[int, int]) -> Iterator[UiNode]:
    """Yield every node on the screen that fits, in document order."""
    return (node for node in on_screen(root, size) if matches(node, matcher))


def node_path(node: UiNode) -> str:
    """Give the child indexes that lead from the root to a node, as ``0.3.1``; the root is ``0``."""
    indexes: list[str] = []
    while node.parent is not None:
        indexes.append(str(next(i for i, n in enumerate(node.parent.children) if n is node)))
        node = node.parent
    return ".".join(["0", *reversed(indexes)])
