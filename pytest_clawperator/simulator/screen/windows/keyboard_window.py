"""The window of the on-screen keyboard, with a node for each key."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode, Window
from pytest_clawperator.simulator.screen.state.keyboard import (
    DELETE,
    ENTER,
    SHIFT,
    SPACE,
    SYMBOLS,
    Keyboard,
)
from pytest_clawperator.simulator.screen.windows.metrics import Metrics

PACKAGE = "com.google.android.inputmethod.latin"
HEIGHT = 260
_ROW = 54
_TOP = 36
_KEY_CLASS = "android.widget.FrameLayout"

_LETTER_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SYMBOL_ROWS = ("1234567890", "@#$_&-+()", "*\"':;!?")
# What a key is called where that is not what it types.
_NAMES = {
    SHIFT: "Shift",
    DELETE: "Delete",
    SYMBOLS: "Symbol keyboard",
    SPACE: "Space",
    ENTER: "Enter",
}


def keyboard_top(metrics: Metrics, height: int) -> int:
    """Return where the keyboard begins on a screen of a height in pixels."""
    return max(height // 2, height - metrics.px(HEIGHT))


def keyboard_window(keyboard: Keyboard, metrics: Metrics, size: tuple[int, int]) -> Window:
    """Build the window of the keyboard."""
    width, height = size
    frame = Bounds(0, keyboard_top(metrics, height), width, height)
    root = UiNode(_KEY_CLASS, PACKAGE, frame, kind="keyboard", widget=PACKAGE)
    scale = min(1.0, frame.height / max(1, metrics.px(HEIGHT)))
    row = int(metrics.px(_ROW) * scale)
    top = frame.top + int(metrics.px(_TOP) * scale)
    for keys in _rows(keyboard):
        units = sum(share for _, share in keys)
        unit = width / max(10.0, units)
        left = (width - units * unit) / 2
        for key, share in keys:
            box = Bounds(int(left), top, int(left + share * unit), top + row)
            root.add(_key(keyboard, key, box))
            left += share * unit
        top += row
    return Window("input_method", PACKAGE, root)


def _rows(keyboard: Keyboard) -> list[list[tuple[str, float]]]:
    """List the keys of each row with their widths, in units of a plain key."""
    first, second, third = _SYMBOL_ROWS if keyboard.symbols else _LETTER_ROWS
    return [
        [(key, 1) for key in first],
        [(key, 1) for key in second],
        [(SHIFT, 1.5), *((key, 1) for key in third), (DELETE, 1.5)],
        [(SYMBOLS, 1.5), (",", 1), (SPACE, 5), (".", 1), (ENTER, 1.5)],
    ]


def _key(keyboard: Keyboard, key: str, box: Bounds) -> UiNode:
    label = key.upper() if keyboard.shifted and len(key) == 1 else key
    return UiNode(
        _KEY_CLASS,
        PACKAGE,
        box,
        content_desc=_NAMES.get(key, label),
        clickable=True,
        kind="key",
        widget=f"{PACKAGE}/{key}",
    )


def pressed_key(widget: str) -> str | None:
    """Return the key that a node's widget name stands for; None where it is no key."""
    prefix = PACKAGE + "/"
    return widget.removeprefix(prefix) if widget.startswith(prefix) else None
