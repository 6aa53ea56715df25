"""Drawing nodes and windows, and comparing the pictures."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any

from PIL import Image, ImageChops

from pytest_clawperator.simulator.picture.controls import PAINTERS
from pytest_clawperator.simulator.picture.render import draw
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode, Window

SIZE = (540, 1200)
KINDS_WITH_LABEL = sorted(
    set(PAINTERS) - {"dialog", "list", "tab_bar", "divider", "toolbar", "row", "keyboard"}
)
BOX = Bounds(60, 400, 480, 464)
PACKAGE = "com.example"


def node(kind: str, bounds: Bounds = BOX, *, cls: str = "android.view.View", **more: Any) -> UiNode:
    """Make a node of a kind."""
    return UiNode(cls, PACKAGE, bounds, kind=kind, **more)


def app(*nodes: UiNode) -> Window:
    """Make an app's window that holds these nodes."""
    root = node("screen", Bounds(0, 0, *SIZE))
    for child in nodes:
        root.add(child)
    return Window("application", PACKAGE, root, active=True)


def png(*windows: Window, dark: bool = False, clock: str = "10:00") -> bytes:
    """Draw windows."""
    return draw(windows, size=SIZE, dark=dark, clock_text=clock)


def picture(*windows: Window, dark: bool = False, clock: str = "10:00") -> Image.Image:
    """Draw windows and open the result."""
    return Image.open(io.BytesIO(png(*windows, dark=dark, clock=clock)))


def changed(before: Image.Image, after: Image.Image) -> Bounds | None:
    """Return the smallest box outside which two pictures are the same."""
    box = ImageChops.difference(before, after).getbbox()
    return None if box is None else Bounds(*box)


@lru_cache
def empty_screen(dark: bool) -> Image.Image:
    """Draw a screen with nothing on it."""
    return picture(app(), dark=dark)


def shown(*nodes: UiNode, dark: bool = False) -> Bounds | None:
    """Return the part of an empty screen that nodes change."""
    return changed(empty_screen(dark), picture(app(*nodes), dark=dark))


def inside(inner: Bounds | None, outer: Bounds) -> bool:
    """Whether something was drawn, and nothing outside."""
    return inner is not None and inner.clipped(outer) == inner


def brightness(image: Image.Image, box: Bounds | None = None) -> float:
    """Return the mean brightness of a part, from 0 to 255."""
    grey = image.convert("L").crop(box)
    return sum(level * count for level, count in enumerate(grey.histogram())) / (
        grey.width * grey.height
    )


def keyboard(*labels: str) -> Window:
    """Make a keyboard's window with keys in one row."""
    root = node("keyboard", Bounds(0, 860, 540, 1200))
    for index, label in enumerate(labels):
        box = Bounds(index * 60, 900, index * 60 + 60, 970)
        root.add(node("key", box, content_desc=label))
    return Window("input_method", "com.example.keyboard", root)
