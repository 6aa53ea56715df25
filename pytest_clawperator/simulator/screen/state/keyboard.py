"""The state of the on-screen keyboard: whether it is up, and what its keys type."""

from __future__ import annotations

from dataclasses import dataclass

SHIFT, DELETE, SYMBOLS, SPACE, ENTER = "shift", "delete", "symbols", "space", "enter"


@dataclass
class Keyboard:
    """Whether the keyboard is up, and which keys it has; it does not know where text goes."""

    shown: bool = False
    shifted: bool = False
    symbols: bool = False

    def show(self) -> None:
        """Come up with plain letters."""
        self.shown, self.shifted, self.symbols = True, False, False

    def hide(self) -> bool:
        """Go away; return whether it was up."""
        was_shown, self.shown = self.shown, False
        return was_shown

    def press(self, key: str) -> str | None:
        """Press a key; return the text it types, ``DELETE``, ``ENTER``, or None for neither."""
        if key == SHIFT:
            self.shifted = not self.shifted
        elif key == SYMBOLS:
            self.symbols = not self.symbols
        elif key in (DELETE, ENTER):
            return key
        elif key == SPACE:
            return " "
        else:
            text = key.upper() if self.shifted else key
            self.shifted = False
            return text
        return None
