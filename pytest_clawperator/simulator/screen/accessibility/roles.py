"""The semantic role of a node, as the Operator infers it."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

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


def role_of(node: UiNode) -> str:
    """Return the role of a node; the first rule that fits wins."""
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
