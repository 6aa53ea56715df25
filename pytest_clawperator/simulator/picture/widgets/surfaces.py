"""What other widgets lie on, and small things without a state of their own."""

from __future__ import annotations

from dataclasses import replace

from pytest_clawperator.simulator.picture.canvas import Canvas, inset, square
from pytest_clawperator.simulator.picture.widgets.paint_context import (
    PaintContext,
    box_behind_edge,
    ink_of,
    shows_own_label,
)
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode


def paint_toolbar(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the toolbar of a screen."""
    if shows_own_label(node):
        box = inset(node.bounds, canvas.dp(16), 0)
        canvas.text(box, node.label, context.ink, size=22 if box.height < canvas.dp(90) else 32)
    return replace(context, inside="toolbar")


def paint_list(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Set the view of a list; it is painted by its rows."""
    return replace(context, view=node.bounds.clipped(context.view))


def paint_row(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the ground of a row, and its label where no part shows it."""
    theme = canvas.theme
    if node.selected or node.focused:
        context = replace(
            context, ground=theme.accent, ink=theme.on_accent, faint_ink=theme.on_accent
        )
        canvas.rounded(inset(node.bounds, canvas.dp(4), 0), canvas.dp(16), theme.accent)
    if shows_own_label(node):
        box = inset(node.bounds, canvas.dp(20), 0)
        canvas.text(box, node.label, ink_of(canvas, node, context.ink), size=16, lines=2)
    return replace(context, inside="row")


def paint_dialog(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the ground of a dialog."""
    theme = canvas.theme
    canvas.rounded(node.bounds, canvas.dp(28), theme.raised)
    return replace(
        context, ground=theme.raised, ink=theme.ink, faint_ink=theme.faint_ink, inside="dialog"
    )


def paint_card(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a card."""
    theme, corner = canvas.theme, canvas.dp(16)
    canvas.rounded(box_behind_edge(node, context, corner), corner, theme.surface)
    if shows_own_label(node):
        box = inset(node.bounds, corner, canvas.dp(8))
        canvas.text(box, node.label, ink_of(canvas, node, theme.ink), size=16, lines=6)
    return replace(
        context, ground=theme.surface, ink=theme.ink, faint_ink=theme.faint_ink, inside="card"
    )


def paint_chip(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a chip."""
    theme = canvas.theme
    chosen = node.selected or node.checked
    ground = theme.accent if chosen else context.ground
    ink = ink_of(canvas, node, theme.on_accent if chosen else context.faint_ink)
    line = theme.accent if chosen else ink_of(canvas, node, theme.outline)
    canvas.frame(node.bounds, canvas.dp(8), line, ground)
    if shows_own_label(node):
        label = inset(node.bounds, canvas.dp(8), 0)
        canvas.text(label, node.label, ink, size=14, align="centre", bold=True)
    return replace(context, ground=ground, ink=ink, faint_ink=ink, inside="chip")


def paint_divider(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a divider."""
    canvas.rectangle(node.bounds, canvas.theme.line)
    return context


def paint_progress(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint progress: a bar, or a ring."""
    theme, box = canvas.theme, node.bounds
    if box.width > box.height * 2:
        height = min(box.height, canvas.dp(5))
        top = box.top + (box.height - height) // 2
        canvas.rounded(Bounds(box.left, top, box.right, top + height), height, theme.accent)
        filled = Bounds(box.left, top, box.left + box.width * 2 // 5, top + height)
        canvas.rounded(filled, height, theme.primary)
    else:
        spot = square(box, min(box.width, box.height, canvas.dp(48)))
        canvas.disc(spot, theme.primary)
        canvas.disc(inset(spot, canvas.dp(4)), context.ground)
        gap = Bounds(spot.centre[0], spot.top, spot.right, spot.centre[1])
        canvas.rectangle(gap, context.ground)
    return context


def paint_snackbar(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a snackbar or a toast."""
    theme = canvas.theme
    canvas.rounded(node.bounds, canvas.dp(6), theme.inverse)
    if shows_own_label(node):
        box = inset(node.bounds, canvas.dp(16), 0)
        canvas.text(box, node.label, theme.on_inverse, size=15, lines=2)
    ink = theme.on_inverse
    return replace(context, ground=theme.inverse, ink=ink, faint_ink=ink, inside="snackbar")


def paint_badge(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint a badge."""
    theme, box = canvas.theme, node.bounds
    canvas.rounded(box, box.height // 2, theme.error)
    canvas.text(box, node.label, theme.on_error, size=12, align="centre", bold=True)
    return replace(context, ground=theme.error, ink=theme.on_error, inside="badge")
