"""Text on a drawn screen."""

from __future__ import annotations

from pytest_clawperator.simulator.picture.canvas import LINE_SPACING, Canvas
from pytest_clawperator.simulator.picture.theme import Colour
from pytest_clawperator.simulator.picture.widgets.paint_context import (
    PaintContext,
    Painter,
    ink_of,
    uncut_box,
)
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

_SMALLEST_TEXT, _LARGEST_TEXT = 9, 60


def write_label(
    canvas: Canvas,
    node: UiNode,
    context: PaintContext,
    colour: Colour,
    *,
    size: float,
    bold: bool = False,
    lines: int = 1,
) -> None:
    """Write a node's label in a size in sp; at the edge of a list it is cut off, not moved."""
    height = canvas.text_height(node.label, size, node.bounds.width)
    box = uncut_box(node, context, height)
    canvas.text(box, node.label, ink_of(canvas, node, colour), size=size, bold=bold, lines=lines)


def label(size: float, *, faint: bool = False) -> Painter:
    """Return a painter of text in a fixed size."""

    def paint(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
        colour = context.faint_ink if faint else context.ink
        write_label(canvas, node, context, colour, size=size, lines=30)
        return context

    return paint


def paint_text(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint text in the style of the widget that it is in."""
    if context.inside in ("button", "tab", "bottom_tab", "chip", "badge"):
        small = 12 if context.inside == "bottom_tab" else 14
        ink = ink_of(canvas, node, context.ink)
        canvas.text(node.bounds, node.label, ink, size=small, align="centre", bold=True)
    elif context.inside == "snackbar":
        canvas.text(node.bounds, node.label, context.ink, size=15, lines=2)
    elif node.heading:
        size = laid_out_size(canvas, node, context, 14)
        write_label(canvas, node, context, canvas.theme.primary, size=size, bold=True)
    else:
        size = laid_out_size(canvas, node, context, 16)
        write_label(canvas, node, context, context.ink, size=size, lines=50)
    return context


def laid_out_size(canvas: Canvas, node: UiNode, context: PaintContext, usual: float) -> float:
    """Return the size that text has by the box that it was laid out in."""
    box, text = node.bounds, node.label
    cut = box.top <= context.view.top or box.bottom >= context.view.bottom
    for lines in range(1, 7):
        size = box.height / lines / LINE_SPACING / canvas.scale / canvas.font_scale
        if size < (usual if cut else _SMALLEST_TEXT):
            break
        if size <= _LARGEST_TEXT and canvas.count_lines(text, size, box.width) == lines:
            return size
    return usual


def paint_title(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the title of a screen or dialog."""
    write_label(
        canvas, node, context, context.ink, size=laid_out_size(canvas, node, context, 22), lines=6
    )
    return context
