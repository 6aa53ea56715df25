"""The on-screen keyboard of a drawn screen."""

from __future__ import annotations

from dataclasses import replace

from pytest_clawperator.simulator.picture.canvas import Canvas, inset, square
from pytest_clawperator.simulator.picture.widgets.paint_context import PaintContext
from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode

_ROWS = ("qwertyuiop", "asdfghjkl", "⇧zxcvbnm⌫", "?,␣.⏎")
_ICONS = {
    "⇧": "shift",
    "⌫": "delete",
    "⏎": "enter",
    "shift": "shift",
    "delete": "delete",
    "backspace": "delete",
    "enter": "enter",
    "done": "check",
    "search": "search",
    "go": "forward",
    "next": "forward",
    "emoji": "smile",
    "language": "globe",
}
_SHORT = {"symbol keyboard": "?123", "letter keyboard": "ABC"}
_BLANK = {"␣", "space", "space bar", "spacebar"}
_WIDE = {"␣": 4.5, "⇧": 1.5, "⌫": 1.5, "⏎": 1.5, "?": 1.5}


def paint_keyboard(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint the keyboard's ground; and its keys, where the tree has none."""
    theme = canvas.theme
    canvas.rectangle(node.bounds, theme.keyboard)
    if not node.children:
        _paint_keys(canvas, node.bounds)
    return replace(context, ground=theme.keyboard, inside="keyboard")


def paint_key(canvas: Canvas, node: UiNode, context: PaintContext) -> PaintContext:
    """Paint one key."""
    _key(canvas, node.bounds, node.label)
    return context


def _paint_keys(canvas: Canvas, bounds: Bounds) -> None:
    top, bottom = bounds.top + canvas.dp(44), bounds.bottom - canvas.dp(32)
    height = max(0, bottom - top) // len(_ROWS)
    unit = bounds.width / 10
    for index, row in enumerate(_ROWS):
        left = bounds.left + (bounds.width - unit * sum(_WIDE.get(k, 1) for k in row)) / 2
        for name in row:
            right = left + unit * _WIDE.get(name, 1)
            line = top + index * height
            _key(canvas, Bounds(round(left), line, round(right), line + height), name)
            left = right


def _key(canvas: Canvas, box: Bounds, label: str) -> None:
    theme = canvas.theme
    name = label.lower()
    label = _SHORT.get(name, label)
    cap = inset(box, min(canvas.dp(3), box.width // 8), min(canvas.dp(5), box.height // 8))
    if name in ("⏎", "enter", "done", "search", "go", "next"):
        canvas.rounded(cap, cap.height // 2, theme.primary)
        canvas.icon(_ICONS[name], square(cap, canvas.dp(22)), theme.on_primary)
    elif name in _ICONS:
        canvas.rounded(cap, canvas.dp(8), theme.special_key)
        canvas.icon(_ICONS[name], square(cap, canvas.dp(22)), theme.ink)
    else:
        letter = name not in _BLANK
        plain = not letter or (len(label) == 1 and label.isalnum())
        canvas.rounded(cap, canvas.dp(8), theme.key if plain else theme.special_key)
        if letter:
            size = 22 if len(label) == 1 else 14
            canvas.text(cap, label, theme.ink, size=size, align="centre")
