"""How text stands on a drawn screen."""

from __future__ import annotations

from pytest_clawperator.simulator.picture.canvas import LINE_SPACING, Canvas
from pytest_clawperator.simulator.picture.theme import Colour
from pytest_clawperator.simulator.picture.widgets.place import Painter, Place, ink_of, whole_box
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

_SMALLEST_TEXT, _LARGEST_TEXT = 9, 60


def write_label(
    canvas: Canvas,
    node: UiNode,
    place: Place,
    colour: Colour,
    *,
    size: float,
    bold: bool = False,
    lines: int = 1,
) -> None:
    """Write a node's label of a size in dp; what a list's edge cuts off stays where it was."""
    height = canvas.text_height(node.label, size, node.bounds.width)
    box = whole_box(node, place, height)
    canvas.text(box, node.label, ink_of(canvas, node, colour), size=size, bold=bold, lines=lines)


def label(size: float, *, faint: bool = False) -> Painter:
    """Make the painter of text that always has the same size."""

    def paint(canvas: Canvas, node: UiNode, place: Place) -> Place:
        colour = place.faint_ink if faint else place.ink
        write_label(canvas, node, place, colour, size=size, lines=30)
        return place

    return paint


def paint_text(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint text as it looks where it is."""
    if place.inside in ("button", "tab", "bottom_tab", "chip", "badge"):
        small = 12 if place.inside == "bottom_tab" else 14
        ink = ink_of(canvas, node, place.ink)
        canvas.text(node.bounds, node.label, ink, size=small, align="centre", bold=True)
    elif place.inside == "snackbar":
        canvas.text(node.bounds, node.label, place.ink, size=15, lines=2)
    elif node.heading:
        size = own_size(canvas, node, place, 14)
        write_label(canvas, node, place, canvas.theme.primary, size=size, bold=True)
    else:
        size = own_size(canvas, node, place, 16)
        write_label(canvas, node, place, place.ink, size=size, lines=50)
    return place


def own_size(canvas: Canvas, node: UiNode, place: Place, usual: float) -> float:
    """Tell from the box that text was laid out in how large the text is meant to be."""
    box, text = node.bounds, node.label
    cut = box.top <= place.view.top or box.bottom >= place.view.bottom
    for lines in range(1, 7):
        size = box.height / lines / LINE_SPACING / canvas.scale
        if size < (usual if cut else _SMALLEST_TEXT):
            break
        if size <= _LARGEST_TEXT and canvas.count_lines(text, size, box.width) == lines:
            return size
    return usual


def paint_title(canvas: Canvas, node: UiNode, place: Place) -> Place:
    """Paint the title of a screen or dialog."""
    write_label(canvas, node, place, place.ink, size=own_size(canvas, node, place, 22), lines=6)
    return place
