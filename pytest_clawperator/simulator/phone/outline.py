"""An outline of the screen as text, for ``sim screen``."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.simulator.screen.accessibility import UiNode, role_of
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi


def outline(ui: PhoneUi) -> str:
    """Describe the screen: every window from the top one down, and in it what has a name."""
    lines = [f"{ui.view.foreground_package()}/{ui.view.foreground_activity()}"]
    for window in reversed(ui.view.windows()):
        active = ", active" if window.active else ""
        lines.append(f"{window.type} window of {window.package}{active}")
        lines += _outline(window.root, 1)
    return "".join(f"{line}\n" for line in lines)


def _outline(node: UiNode, depth: int) -> Iterator[str]:
    named = bool(node.label or node.resource_id or node.editable or node.scrollable)
    if named:
        yield "  " * depth + _described(node)
    for child in node.children:
        yield from _outline(child, depth + named)


def _described(node: UiNode) -> str:
    parts = [role_of(node)]
    if node.text:
        parts.append(repr(node.text))
    if node.content_desc:
        parts.append(f"desc={node.content_desc!r}")
    if node.resource_id:
        parts.append(f"id={node.resource_id}")
    parts += [name for name in ("checked", "focused", "selected") if getattr(node, name)]
    parts += [] if node.enabled else ["disabled"]
    left, top, right, bottom = node.bounds
    return f"{' '.join(parts)} [{left},{top}][{right},{bottom}]"
