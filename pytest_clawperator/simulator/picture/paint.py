"""Draw labels and icons of widgets, in the state that the widgets are in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from pytest_clawperator.simulator.picture.canvas import (
    LINE_SPACING,
    Canvas,
    Colour,
    inset,
    mixed,
    square,
    tint,
)
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode

_TEXT_KINDS = {"text", "title", "row_title", "row_summary", "dialog_title", "dialog_text", "badge"}


@dataclass(frozen=True)
class PaintContext:
    """What a node is painted on, in which ink, in which list's view, and inside which widget."""

    ground: Colour
    ink: Colour
    faint_ink: Colour
    view: Bounds
    inside: str = ""

    def on(
        self, ground: Colour, ink: Colour, inside: str, *, faint_ink: Colour | None = None
    ) -> PaintContext:
        """Return the context for what stands on another ground."""
        return PaintContext(ground, ink, faint_ink or ink, self.view, inside)


Painter = Callable[[Canvas, UiNode, PaintContext], PaintContext]


def shows_own_label(node: UiNode) -> bool:
    """Return whether a node shows its label itself, and no node inside it does."""
    return bool(node.label) and not any(
        below.kind in _TEXT_KINDS and below.label for below in node.walk() if below is not node
    )


def ink_of(canvas: Canvas, node: UiNode, wanted: Colour) -> Colour:
    """Return the colour of a node's text or lines: the wanted one, or grey if it is disabled."""
    return wanted if is_enabled(node) else canvas.theme.disabled_ink


def is_enabled(node: UiNode) -> bool:
    """Return whether a node is enabled; a disabled row disables what is in it."""
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


# The first line one of whose words is found wins.
_WORDS = {
    "back": "up back navigate",
    "close": "close dismiss clear",
    "search": "search find",
    "more": "more options overflow",
    "menu": "menu drawer navigation",
    "cart": "cart basket checkout shop store orders order",
    "plus": "add plus increase increment new",
    "minus": "minus decrease decrement less",
    "bin": "delete bin trash remove",
    "check": "check done ok confirm",
    "wifi": "wi-fi wifi network internet connections wireless",
    "bluetooth": "bluetooth connected devices",
    "battery": "battery power charging",
    "bell": "notification notifications alerts alert",
    "sun": "display brightness wallpaper wallpapers theme",
    "sound": "sound volume vibration audio",
    "storage": "storage memory",
    "lock": "lock security privacy password permission permissions",
    "pin": "location address delivery map",
    "person": "account accounts profile user users people login",
    "apps": "apps applications catalogue catalog categories",
    "info": "info information about help tips",
    "phone": "phone device system developer",
    "globe": "language languages locale keyboard web browser",
    "heart": "favourite favourites favorite favorites wishlist like wellbeing health",
    "star": "star rating ratings review",
    "home": "home start",
    "gear": "settings preferences configure general",
    "image": "image photo picture",
}

_ICON_OF_WORD = {word: icon for icon, words in reversed(_WORDS.items()) for word in words.split()}
_RANK = {icon: rank for rank, icon in enumerate(_WORDS)}
_SPLIT = re.compile(r"[^a-z-]+")


def icon_name(node: UiNode) -> str | None:
    """Find an icon for a node by its label and id, else by the row it is in."""
    found = _icon_for(node.label) or _icon_for(node.resource_id.rpartition("/")[2])
    above = node.parent
    if found is None and not node.label and above is not None and above.kind == "row":
        names = (below.label for below in above.walk() if below.kind == "row_title")
        found = _icon_for(next(names, above.label))
    return found


@lru_cache(maxsize=1024)
def _icon_for(text: str) -> str | None:
    words = _SPLIT.split(text.lower())
    icons = [_ICON_OF_WORD[word] for word in words if word in _ICON_OF_WORD]
    return min(icons, key=_RANK.__getitem__) if icons else None


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
    if above is not None and above.kind == "row":
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
