"""Icons and images."""

from __future__ import annotations

from pytest_clawperator.simulator.picture.canvas import Canvas, inset, square
from pytest_clawperator.simulator.picture.theme import Colour, mixed, tint
from pytest_clawperator.simulator.picture.widgets.icon_choice import icon_name
from pytest_clawperator.simulator.picture.widgets.paint_context import (
    PaintContext,
    box_behind_edge,
    ink_of,
    is_enabled,
    kind_of,
    uncut_box,
)
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode


def paint_icon(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint an icon, on a coloured disc in a row."""
    theme, box = canvas.theme, node.bounds
    if node.text and box.height > canvas.dp(64) and context.inside in ("", "home"):
        return _launcher_icon(canvas, node, context)
    name = icon_name(node)
    box = uncut_box(node, context, min(box.width, canvas.dp(48)))
    if context.inside == "row":
        side = min(box.width, box.height, canvas.dp(40))
        spot = square(box, side)
        colour = tint(_row_name(node))
        canvas.disc(spot, colour if is_enabled(node) else theme.disabled)
        paint_symbol(canvas, node, name, square(spot, round(side * 0.62)), (255, 255, 255))
    else:
        side = min(box.width, box.height, canvas.dp(24))
        paint_symbol(canvas, node, name, square(box, side), ink_of(canvas, node, context.ink))
    return context


def _launcher_icon(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    left, top, right, bottom = node.bounds
    label_top = bottom - max(canvas.dp(24), canvas.sp(18))
    side = min(right - left, label_top - top, canvas.dp(60))
    spot = square(Bounds(left, top, right, label_top), side)
    canvas.disc(spot, tint(node.label))
    paint_symbol(canvas, node, icon_name(node), square(spot, round(side * 0.5)), (255, 255, 255))
    label = Bounds(left, label_top, right, bottom)
    canvas.text(label, node.text, context.ink, size=13, align="centre")
    return context


def paint_symbol(
    canvas: Canvas, node: UiNode, name: str | None, box: Bounds, colour: Colour
) -> None:
    """Paint the icon of a name, or the first letter of the node's own name."""
    if name is not None:
        canvas.icon(name, box, colour)
        return
    letter = _row_name(node).strip()[:1].upper()
    size = box.height / max(1, canvas.sp(100)) * 100 * 0.95
    canvas.text(inset(box, -box.width // 2), letter, colour, size=size, align="centre", bold=True)


def _row_name(node: UiNode) -> str:
    if node.label:
        return node.label
    above = node.parent
    if above is not None and kind_of(above) == "row":
        for below in above.walk():
            if below.label:
                return below.label
    return node.resource_id.rpartition("/")[2] or node.widget


def paint_image(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint an image: an icon on a coloured ground."""
    theme, box = canvas.theme, node.bounds
    if max(box.width, box.height) <= canvas.dp(48) and (icon_name(node) or context.inside != ""):
        return paint_icon(canvas, node, context)
    colour = tint(_row_name(node))
    ground = mixed(colour, theme.background, 0.72)
    corner = canvas.dp(12) if box.width < canvas.screen.width else 0
    canvas.rounded(box_behind_edge(node, context, corner), corner, ground)
    name = icon_name(node) or "image"
    side = round(min(box.width, box.height) * 0.5)
    canvas.icon(name, square(box, side), mixed(colour, theme.ink, 0.15), weight=0.06)
    return context
