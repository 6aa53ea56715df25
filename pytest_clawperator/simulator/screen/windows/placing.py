"""Windows as a whole: put beside a cutout, or mirrored for languages from right to left."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode


def move(root: UiNode, x: int, y: int) -> None:
    """Move a window with everything in it."""
    if x or y:
        for node in root.walk():
            left, top, right, bottom = node.bounds
            node.bounds = Bounds(left + x, top + y, right + x, bottom + y)


def mirror(root: UiNode, width: int) -> None:
    """Mirror a window with everything in it on a screen of this width."""
    for node in root.walk():
        left, top, right, bottom = node.bounds
        node.bounds = Bounds(width - right, top, width - left, bottom)
