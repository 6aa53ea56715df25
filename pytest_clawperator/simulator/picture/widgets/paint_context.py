"""The context in which a node is painted, and what painters ask about nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.picture.canvas import Canvas
from pytest_clawperator.simulator.picture.theme import Colour
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode

_KIND_BY_CLASS = {
    "Button": "button",
    "CheckBox": "checkbox",
    "CheckedTextView": "checkbox",
    "EditText": "textfield",
    "AutoCompleteTextView": "textfield",
    "FloatingActionButton": "button",
    "ImageButton": "icon",
    "ImageView": "image",
    "MaterialButton": "button",
    "ProgressBar": "progress",
    "RadioButton": "radio",
    "SearchView": "textfield",
    "SeekBar": "progress",
    "Switch": "switch",
    "SwitchCompat": "switch",
    "TextView": "text",
    "ToggleButton": "switch",
    "Toolbar": "toolbar",
}
_TEXT_KINDS = {"text", "title", "row_title", "row_summary", "dialog_title", "dialog_text", "badge"}


@dataclass(frozen=True)
class PaintContext:
    """What a node is painted on, in which ink, in which list's view, and inside which widget."""

    ground: Colour
    ink: Colour
    faint_ink: Colour
    view: Bounds
    inside: str = ""


Painter = Callable[[Canvas, UiNode, PaintContext], PaintContext]


def kind_of(node: UiNode) -> str:
    """Return the kind to paint a node as: its own, else what its class suggests."""
    if node.kind:
        return node.kind
    known = _KIND_BY_CLASS.get(node.cls.rpartition(".")[2])
    if known is not None:
        return known
    return "text" if node.text and not node.children else ""


def shows_own_label(node: UiNode) -> bool:
    """Whether a node shows its label itself, and no node inside it does."""
    return bool(node.label) and not any(
        kind_of(below) in _TEXT_KINDS and below.label for below in node.walk() if below is not node
    )


def ink_of(canvas: Canvas, node: UiNode, wanted: Colour) -> Colour:
    """Return the colour of a node's text or lines: the wanted one, or grey if it is disabled."""
    return wanted if is_enabled(node) else canvas.theme.disabled_ink


def is_enabled(node: UiNode) -> bool:
    """Whether a node is enabled; a disabled row disables what is in it."""
    above = node.parent
    return node.enabled and (above is None or above.enabled or above.kind != "row")


def uncut_box(node: UiNode, context: PaintContext, height: int) -> Bounds:
    """Return a node's box as it was before the edge of a list cut it."""
    left, top, right, bottom = node.bounds
    if bottom - top >= height - 1:
        return node.bounds
    if top <= context.view.top:
        return Bounds(left, bottom - height, right, bottom)
    if bottom >= context.view.bottom:
        return Bounds(left, top, right, top + height)
    return node.bounds


def box_behind_edge(node: UiNode, context: PaintContext, by: int) -> Bounds:
    """Return a node's box extended behind a list's edge, so that no round corner shows there."""
    left, top, right, bottom = node.bounds
    cut_above, cut_below = top <= context.view.top, bottom >= context.view.bottom
    return Bounds(left, top - by * cut_above, right, bottom + by * cut_below)
