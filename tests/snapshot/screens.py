"""Hierarchies for tests, written as the Operator writes them."""

from __future__ import annotations

from pytest_clawperator.snapshot.tree import Snapshot

_DEFAULTS = {
    "index": "0",
    "text": "",
    "resource-id": "",
    "class": "android.view.View",
    "package": "com.example",
    "content-desc": "",
    "checkable": "false",
    "checked": "false",
    "clickable": "false",
    "enabled": "true",
    "focusable": "false",
    "focused": "false",
    "scrollable": "false",
    "long-clickable": "false",
    "password": "false",
    "selected": "false",
    "bounds": "[0,0][100,50]",
}
_ESCAPES = str.maketrans({"&": "&amp;", '"': "&quot;", "'": "&apos;", "<": "&lt;", ">": "&gt;"})
_WORDS = {"id": "resource-id", "cls": "class", "desc": "content-desc"}


def node(*children: str, **attributes: object) -> str:
    """Write a node; underscores stand for hyphens, ``cls``, ``id`` and ``desc`` for attributes."""
    given = {_WORDS.get(k, k.replace("_", "-")): v for k, v in attributes.items()}
    values = {
        name: str(value).lower() if isinstance(value, bool) else str(value).translate(_ESCAPES)
        for name, value in {**_DEFAULTS, **given}.items()
    }
    printed = " ".join(f'{name}="{value}"' for name, value in values.items())
    if not children:
        return f"<node {printed} />"
    return "\n".join([f"<node {printed}>", *children, "</node>"])


def hierarchy(*children: str, rotation: int = 0) -> str:
    """Write a whole hierarchy: a root the size of a screen, and what is in it."""
    root = node(*children, cls="android.widget.FrameLayout", bounds="[0,0][1080,2400]")
    prolog = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{prolog}\n<hierarchy rotation="{rotation}">\n{root}\n</hierarchy>\n'


def screen(*children: str, **known: object) -> Snapshot:
    """Read a screen with these nodes in its root."""
    return Snapshot.from_xml(hierarchy(*children), **known)  # type: ignore[arg-type]


def login() -> Snapshot:
    """Return a screen with a form and a list."""
    return screen(
        node(text="Welcome", cls="android.widget.TextView"),
        node(
            node(
                text="", desc="User name", cls="android.widget.EditText", id="com.example:id/user"
            ),
            node(text="Log in", cls="android.widget.Button", id="com.example:id/submit"),
            id="com.example:id/form",
            cls="android.widget.LinearLayout",
        ),
        node(
            node(text="Log in", desc="an entry"),
            node(text="Log out", bounds="[0,3000][10,3010]"),
            id="com.example:id/list",
            scrollable=True,
        ),
    )
