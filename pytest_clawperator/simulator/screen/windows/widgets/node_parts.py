"""The parts of a widget that are nodes of their own, and what all nodes share."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode


def visible_part(bounds: Bounds, clip: Bounds) -> tuple[Bounds, bool]:
    """Return the part of a node's bounds inside the clip, and whether there is any."""
    left, top, right, bottom = bounds
    if left < clip.left or top < clip.top or right > clip.right or bottom > clip.bottom:
        bounds = left, top, right, bottom = bounds.clipped(clip)
    return bounds, right > left and bottom > top


def resource_id(package: str, name: str) -> str:
    """Return the whole resource id for a name in an app file."""
    return name if not name or ":id/" in name else f"{package}:id/{name}"


def add_part(
    node: UiNode, cls: str, name: str, frame: Bounds, *, clip: Bounds, kind: str
) -> UiNode:
    """Add a part to the node of a widget."""
    shown, visible = visible_part(frame, clip)
    return node.add(
        UiNode(
            cls,
            node.package,
            shown,
            enabled=node.enabled,
            visible_to_user=visible,
            kind=kind,
            widget=f"{node.widget}#{name}",
        )
    )
