"""Bars of tabs, at the top of a page or at its bottom."""

from __future__ import annotations

from dataclasses import replace

from pytest_clawperator.simulator.picture.canvas import Canvas, inset, square
from pytest_clawperator.simulator.picture.widgets.icon_choice import icon_name
from pytest_clawperator.simulator.picture.widgets.icons import paint_symbol
from pytest_clawperator.simulator.picture.widgets.paint_context import (
    PaintContext,
    shows_own_label,
)
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode


def paint_tab_bar(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the ground of a bar of tabs."""
    theme, box = canvas.theme, node.bounds
    if _at_bottom(canvas, box):
        canvas.rectangle(box, theme.surface)
        return replace(context, ground=theme.surface, inside="bottom_bar")
    line = Bounds(box.left, box.bottom - canvas.dp(1), box.right, box.bottom)
    canvas.rectangle(line, theme.line)
    return replace(context, inside="tab_bar")


def _at_bottom(canvas: Canvas, box: Bounds) -> bool:
    return box.top > canvas.screen.height * 0.7


def paint_tab(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a tab."""
    if context.inside == "bottom_bar" and node.bounds.height >= canvas.dp(48):
        return _bottom_tab(canvas, node, context)
    theme, box = canvas.theme, node.bounds
    ink = theme.primary if node.selected else context.faint_ink
    if shows_own_label(node):
        canvas.text(box, node.label, ink, size=14, align="centre", bold=True)
    if node.selected:
        width = min(box.width, canvas.dp(64))
        left = box.left + (box.width - width) // 2
        mark = Bounds(left, box.bottom - canvas.dp(3), left + width, box.bottom)
        canvas.rounded(mark, canvas.dp(3), theme.primary)
    return replace(context, ink=ink, faint_ink=ink, inside="tab")


def _bottom_tab(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a tab of a bottom bar: an icon above its label."""
    box = node.bounds
    labels = [below.bounds.top for below in node.walk() if below is not node and below.label]
    middle = labels[0] if labels else box.top + box.height * 3 // 5
    ink = context.ink if node.selected else context.faint_ink
    spot = square(Bounds(box.left, box.top, box.right, middle), canvas.dp(28))
    if node.selected:
        canvas.rounded(inset(spot, -canvas.dp(15), 0), spot.height // 2, canvas.theme.accent)
    paint_symbol(canvas, node, icon_name(node), square(spot, canvas.dp(21)), ink)
    if shows_own_label(node):
        label = Bounds(box.left, middle, box.right, min(box.bottom, middle + canvas.dp(19)))
        canvas.text(label, node.label, ink, size=12, align="centre", bold=True)
    return replace(context, ink=ink, faint_ink=ink, inside="bottom_tab")
