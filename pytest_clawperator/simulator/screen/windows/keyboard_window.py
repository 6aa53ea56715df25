"""The on-screen keyboard: a window of its own, whose keys type."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode, Window
from pytest_clawperator.simulator.screen.windows.metrics import Metrics

PACKAGE = "com.google.android.inputmethod.latin"
HEIGHT = 260
_ROW = 54
_TOP = 36
_KEY_CLASS = "android.widget.FrameLayout"

_LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SYMBOLS = ("1234567890", "@#$_&-+()", "*\"':;!?")
_SHIFT, _DELETE, _OTHER, _COMMA, _SPACE, _STOP, _ENTER = (
    "shift", "delete", "symbols", ",", "space", ".", "enter",
)  # fmt: skip
# What a key is called where that is not what it types.
_NAMES = {
    _SHIFT: "Shift",
    _DELETE: "Delete",
    _OTHER: "Symbol keyboard",
    _SPACE: "Space",
    _ENTER: "Enter",
}


@dataclass
class Keyboard:
    """Which keys show; what it types goes to whoever asks."""

    shown: bool = False
    shifted: bool = False
    symbols: bool = False

    def show(self) -> None:
        """Come up with plain letters."""
        self.shown, self.shifted, self.symbols = True, False, False

    def hide(self) -> bool:
        """Go away; tell whether it was there."""
        was_shown, self.shown = self.shown, False
        return was_shown

    def press(self, key: str) -> str | None:
        """Press a key: give the text it types, ``delete`` or ``enter``, or None for neither."""
        if key == _SHIFT:
            self.shifted = not self.shifted
        elif key == _OTHER:
            self.symbols = not self.symbols
        elif key in (_DELETE, _ENTER):
            return key
        elif key == _SPACE:
            return " "
        else:
            text = key.upper() if self.shifted else key
            self.shifted = False
            return text
        return None

    def top(self, metrics: Metrics, height: int) -> int:
        """Give where it begins on a screen so many pixels high."""
        return max(height // 2, height - metrics.px(HEIGHT))

    def window(self, metrics: Metrics, size: tuple[int, int]) -> Window:
        """Build its window."""
        width, height = size
        frame = Bounds(0, self.top(metrics, height), width, height)
        root = UiNode(_KEY_CLASS, PACKAGE, frame, kind="keyboard", widget=PACKAGE)
        scale = min(1.0, frame.height / max(1, metrics.px(HEIGHT)))
        row = int(metrics.px(_ROW) * scale)
        top = frame.top + int(metrics.px(_TOP) * scale)
        for keys in self._rows():
            units = sum(share for _, share in keys)
            unit = width / max(10.0, units)
            left = (width - units * unit) / 2
            for key, share in keys:
                box = Bounds(int(left), top, int(left + share * unit), top + row)
                root.add(self._key(key, box))
                left += share * unit
            top += row
        return Window("input_method", PACKAGE, root)

    def _rows(self) -> list[list[tuple[str, float]]]:
        first, second, third = _SYMBOLS if self.symbols else _LETTERS
        return [
            [(key, 1) for key in first],
            [(key, 1) for key in second],
            [(_SHIFT, 1.5), *((key, 1) for key in third), (_DELETE, 1.5)],
            [(_OTHER, 1.5), (_COMMA, 1), (_SPACE, 5), (_STOP, 1), (_ENTER, 1.5)],
        ]

    def _key(self, key: str, box: Bounds) -> UiNode:
        label = key.upper() if self.shifted and len(key) == 1 else key
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
    """Give the key that a node's widget path stands for; None where it is no key."""
    prefix = PACKAGE + "/"
    return widget.removeprefix(prefix) if widget.startswith(prefix) else None
