"""Sizes: density-independent units in pixels, and how much room a text takes.

Text is measured with a small table of widths rather than a font, because a hierarchy is
needed far more often than a picture and must not wait for a drawing library.
"""

from __future__ import annotations

from functools import lru_cache

_BASELINE = 160
_LINE_HEIGHT = 1.35

_NARROW = frozenset("iIjl.,:;'|!`’‘·• ()[]{}/\\\"")
_SLIM = frozenset("frt-")
_WIDE = frozenset("mwMW@%—…")


class Metrics:
    """Turns density-independent units into pixels; sizes of text also have the user's scale."""

    __slots__ = ("_scale", "_text_scale")

    def __init__(self, density: int, *, font_scale: float = 1.0) -> None:
        self._scale = density / _BASELINE
        self._text_scale = self._scale * font_scale

    def px(self, dp: float) -> int:
        """Return the whole pixels for a length in dp."""
        return int(dp * self._scale + 0.5)

    def text_width(self, text: str, size: float) -> int:
        """Return the width of a text on one line."""
        return int(_ems(text) * size * self._text_scale + 0.999)

    def line_height(self, size: float) -> int:
        """Return the height of one line."""
        return int(size * _LINE_HEIGHT * self._text_scale + 0.5)

    def lines(self, text: str, size: float, width: int) -> int:
        """Count the lines that a text takes in a width in pixels."""
        ems = max(1.0, width / (size * self._text_scale))
        return _wrapped(text, round(ems, 1))


@lru_cache(maxsize=8192)
def _ems(text: str) -> float:
    return sum(map(_em, text))


def _em(char: str) -> float:
    if char in _NARROW:
        return 0.29
    if char in _SLIM:
        return 0.36
    if char in _WIDE:
        return 0.86
    if char.isascii():
        return 0.66 if char.isupper() else 0.56
    # Scripts with full-width characters begin about here; accented letters stand before.
    return 0.58 if ord(char) < 0x1100 else 1.0


@lru_cache(maxsize=4096)
def _wrapped(text: str, ems: float) -> int:
    lines = 0
    for paragraph in text.split("\n"):
        lines += 1
        used = 0.0
        for word in paragraph.split(" "):
            length = _ems(word)
            if used and used + 0.29 + length > ems:
                lines += 1
                used = 0.0
            if length > ems:
                lines += int(length / ems)
                length %= ems
            used += length + (0.29 if used else 0.0)
    return lines
