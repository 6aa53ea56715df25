"""What kind of thing a node is, inferred as the Operator infers it.

The Operator also asks Android what the XML does not tell: whether a node is a heading, an
item or a grid of a collection, laid out in a row or a column, or read by screen readers.
All of that counts as absent here, so ``listitem``, ``label``, ``row`` and ``column`` never
come out, ``title`` only inside a toolbar, and ``grid`` only for a ``GridView``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.node import Node

#: Roles that the Operator may see where this module, with only the XML, sees another.
UNTELLABLE = frozenset({"listitem", "title", "label", "row", "column", "grid"})

# The first part of the class name that fits decides, so that a RadioButton is a button.
# The simulated phone has a table of its own, lest one mistake sit on both sides of the wire.
_BY_CLASS = (
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
#: All roles that the Operator or this module may name.
KNOWN_ROLES = UNTELLABLE | {role for _, role in _BY_CLASS}
KNOWN_ROLES |= {"tab", "icon", "container", "unknown", "text"}
_TAB_CLASSES = ("tablayout", "bottomnavigationview")
_TAB_IDS = ("tab", "navigation", "bottom")
_LAYOUTS = ("linearlayout", "framelayout", "constraintlayout", "coordinatorlayout")
_CLICKABLE_ANCESTORS = 3
_LONG_TEXT = 20


def role_of(node: Node) -> str:
    """Return the role of a node; the first rule that fits wins."""
    if _is_tab(node):
        return "tab"
    class_name = node.class_name.lower()
    by_class = _class_role(class_name)
    if by_class == "image" and _is_effectively_clickable(node):
        return "icon"
    if by_class is not None:
        return by_class
    if any(layout in class_name for layout in _LAYOUTS):
        return "container"
    return _text_role(node) if node.label else "unknown"


def is_certain(node: Node) -> bool:
    """Whether the Operator is sure to infer the same role as the XML gives."""
    class_name = node.class_name.lower()
    role = _class_role(class_name)
    is_collection = "recyclerview" in class_name or role == "grid"
    return _is_tab(node) or (role is not None and not is_collection)


def _is_tab(node: Node) -> bool:
    parent = node.parent
    if parent is None or not node.label:
        return False
    class_name, resource_id = parent.class_name.lower(), parent.resource_id.lower()
    return any(part in class_name for part in _TAB_CLASSES) or any(
        part in resource_id for part in _TAB_IDS
    )


def _class_role(class_name: str) -> str | None:
    return next((role for part, role in _BY_CLASS if part in class_name), None)


def _text_role(node: Node) -> str:
    if _is_effectively_clickable(node):
        return "text" if " " in node.text and len(node.text) > _LONG_TEXT else "button"
    parent = node.parent
    return "title" if parent is not None and "toolbar" in parent.class_name.lower() else "text"


def _is_effectively_clickable(node: Node) -> bool:
    current: Node | None = node
    for _ in range(_CLICKABLE_ANCESTORS + 1):
        if current is None:
            return False
        if current.clickable:
            return True
        current = current.parent
    return False
