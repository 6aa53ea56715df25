"""Nodes made by hand."""

from __future__ import annotations

from typing import Any

from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode

SIZE = (1080, 2400)
VIEW = "android.view.View"
TEXT = "android.widget.TextView"
FRAME = "android.widget.FrameLayout"


def node(cls: str = VIEW, *children: UiNode, **more: Any) -> UiNode:
    """Make a node that fills the screen unless its bounds are given."""
    made = UiNode(cls, "com.example", more.pop("bounds", Bounds(0, 0, *SIZE)), **more)
    for child in children:
        made.add(child)
    return made
