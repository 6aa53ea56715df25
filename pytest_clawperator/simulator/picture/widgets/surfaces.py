"""What other widgets lie on, and small things without a state of their own."""

from __future__ import annotations

from dataclasses import replace

from pytest_clawperator.simulator.picture.canvas import Canvas, inset, square
from pytest_clawperator.simulator.picture.widgets.place import (
    Place,
    beyond_edge,
    ink_of,
    says_itself,
)
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode


def paint_toolbar(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint the toolbar of a screen."""
    if says_itself(node):
        box = inset(node.bounds, canvas.dp(16), 0)
        canvas.text(box, node.label, place.ink, size=22 if box.height < canvas.dp(90) else 32)
    return replace(place, inside="toolbar")


def paint_list(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Set the view of a list; it is painted by its rows."""
    return replace(place, view=node.bounds.clipped(place.view))


def paint_row(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint the ground of a row, and its label where no part shows it."""
    theme = canvas.theme
    if node.selected or node.focused:
        place = replace(place, ground=theme.accent, ink=theme.on_accent, faint_ink=theme.on_accent)
        canvas.rounded(inset(node.bounds, canvas.dp(4), 0), canvas.dp(16), theme.accent)
    if says_itself(node):
        box = inset(node.bounds, canvas.dp(20), 0)
        canvas.text(box, node.label, ink_of(canvas, node, place.ink), size=16, lines=2)
    return replace(place, inside="row")


def paint_dialog(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint the ground of a dialog."""
    theme = canvas.theme
    canvas.rounded(node.bounds, canvas.dp(28), theme.raised)
    return replace(
        place, ground=theme.raised, ink=theme.ink, faint_ink=theme.faint_ink, inside="dialog"
    )


def paint_card(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint a card."""
    theme, corner = canvas.theme, canvas.dp(16)
    canvas.rounded(beyond_edge(node, place, corner), corner, theme.surface)
    if says_itself(node):
        box = inset(node.bounds, corner, canvas.dp(8))
        canvas.text(box, node.label, ink_of(canvas, node, theme.ink), size=16, lines=6)
    return replace(
        place, ground=theme.surface, ink=theme.ink, faint_ink=theme.faint_ink, inside="card"
    )


def paint_chip(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint a chip."""
    theme = canvas.theme
    chosen = node.selected or node.checked
    ground = theme.accent if chosen else place.ground
    ink = ink_of(canvas, node, theme.on_accent if chosen else place.faint_ink)
    line = theme.accent if chosen else ink_of(canvas, node, theme.outline)
    canvas.frame(node.bounds, canvas.dp(8), line, ground)
    if says_itself(node):
        label = inset(node.bounds, canvas.dp(8), 0)
        canvas.text(label, node.label, ink, size=14, align="centre", bold=True)
    return replace(place, ground=ground, ink=ink, faint_ink=ink, inside="chip")


def paint_divider(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint a divider."""
    canvas.rectangle(node.bounds, canvas.theme.line)
    return place


def paint_progress(canvas: Canvas, node: UiNode, place: Place) -> Place:
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
        canvas.disc(inset(spot, canvas.dp(4)), place.ground)
        gap = Bounds(spot.centre[0], spot.top, spot.right, spot.centre[1])
        canvas.rectangle(gap, place.ground)
    return place


def paint_snackbar(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint a snackbar or a toast."""
    theme = canvas.theme
    canvas.rounded(node.bounds, canvas.dp(6), theme.inverse)
    if says_itself(node):
        box = inset(node.bounds, canvas.dp(16), 0)
        canvas.text(box, node.label, theme.on_inverse, size=15, lines=2)
    ink = theme.on_inverse
    return replace(place, ground=theme.inverse, ink=ink, faint_ink=ink, inside="snackbar")


def paint_badge(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint a badge."""
    theme, box = canvas.theme, node.bounds
    canvas.rounded(box, box.height // 2, theme.error)
    canvas.text(box, node.label, theme.on_error, size=12, align="centre", bold=True)
    return replace(place, ground=theme.error, ink=theme.on_error, inside="badge")
