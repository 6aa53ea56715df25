"""Accents, and strokes that make other letters, drawn onto the letters of the font."""

from __future__ import annotations

from PIL import ImageDraw, ImageFont

from pytest_clawperator.simulator.picture.glyphs import (
    ACROSS,
    DOTLESS,
    SLASH,
    STEM,
    TWICE_ACROSS,
    Glyph,
)

# Lines above a letter, from its middle, in units of a sixth of its size.
_ABOVE = {
    "\u0300": ((-0.5, -1), (0.5, 0)),
    "\u0301": ((-0.5, 0), (0.5, -1)),
    "\u0302": ((-0.6, 0), (0, -1), (0.6, 0)),
    "\u0303": ((-0.8, -0.2), (-0.3, -0.8), (0.3, -0.2), (0.8, -0.8)),
    "\u0304": ((-0.7, -0.4), (0.7, -0.4)),
    "\u0306": ((-0.6, -1), (-0.3, -0.3), (0.3, -0.3), (0.6, -1)),
    "\u030c": ((-0.6, -1), (0, 0), (0.6, -1)),
}
# The same below it.
_BELOW = {
    "\u0326": ((0.1, 0.3), (-0.2, 1.1)),
    "\u0327": ((0, 0), (0.4, 0.5), (0.1, 1.0), (-0.4, 0.9)),
    "\u0328": ((0.6, 0), (0.3, 0.5), (0.5, 1.0), (0.9, 0.9)),
}
_TWO_ACUTES = "\u030b"
_RING = "\u030a"
_DOTS = {"\u0308": (-0.5, 0.5), "\u0307": (0.0,)}
_DOT_BELOW = "\u0323"
# Sharp s, in shares of the size: right from its place, up from the line.
_SHARP_S = (
    (0.10, 0.0), (0.10, 0.52), (0.14, 0.64), (0.25, 0.70), (0.37, 0.66), (0.41, 0.55),
    (0.36, 0.46), (0.28, 0.39), (0.32, 0.33), (0.43, 0.27), (0.48, 0.16), (0.43, 0.04),
    (0.32, 0.0), (0.24, 0.02),
)  # fmt: skip


def draw_own_strokes(
    pen: ImageDraw.ImageDraw, letter: str, x: float, *, font: ImageFont.FreeTypeFont, size: int
) -> None:
    """Draw a letter that is no other letter with something done to it: ß."""
    line = font.getmetrics()[0]
    points = [(x + across * size, line - up * size) for across, up in _SHARP_S]
    pen.line(points, fill=255, width=max(1, round(size * 0.085)), joint="curve")


def draw_accents(
    pen: ImageDraw.ImageDraw, glyph: Glyph, x: float, *, font: ImageFont.FreeTypeFont, size: int
) -> None:
    """Draw what a letter has besides: accents, dots, hooks and strokes."""
    left, top, right, bottom = _ink(glyph.text, font)
    middle, unit = x + (left + right) / 2, size * 0.16
    width = max(1, round(size * 0.07))
    for accent in glyph.accents:
        if accent in (ACROSS, TWICE_ACROSS, SLASH, STEM, DOTLESS):
            _change(pen, accent, (x + left, top, x + right, bottom), glyph.text, font, size)
        elif accent in _BELOW:
            points = [(middle + dx * unit, bottom + dy * unit) for dx, dy in _BELOW[accent]]
            pen.line(points, fill=255, width=width)
        elif accent == _DOT_BELOW:
            _dot(pen, middle, bottom + unit * 0.7, size * 0.05)
        elif glyph.text in "ij":  # the accent takes the place of the dot
            _change(pen, DOTLESS, (x + left, top, x + right, bottom), glyph.text, font, size)
            _above(pen, accent, middle, font.getbbox("x")[1] - size * 0.06, size)
        else:
            _above(pen, accent, middle, top - size * 0.06, size)


def _ink(letter: str, font: ImageFont.FreeTypeFont) -> tuple[float, float, float, float]:
    """Return where a letter is black; its box in the font also has the room beside it."""
    mask, (left, top) = font.getmask2(letter, mode="L")
    box = mask.getbbox() or (0, 0, 0, 0)
    return left + box[0], top + box[1], left + box[2], top + box[3]


def _above(pen: ImageDraw.ImageDraw, accent: str, middle: float, bottom: float, size: int) -> None:
    unit, width = size * 0.16, max(1, round(size * 0.07))
    if accent in _ABOVE:
        points = [(middle + dx * unit, bottom + dy * unit) for dx, dy in _ABOVE[accent]]
        pen.line(points, fill=255, width=width)
    elif accent == _TWO_ACUTES:
        for dx in (-0.4, 0.5):
            start = middle + dx * unit
            pen.line((start - unit * 0.3, bottom, start + unit * 0.3, bottom - unit), 255, width)
    elif accent == _RING:
        radius, y = unit * 0.55, bottom - unit * 0.5
        box = (middle - radius, y - radius, middle + radius, y + radius)
        pen.ellipse(box, outline=255, width=max(1, round(size * 0.05)))
    for dx in _DOTS.get(accent, ()):
        _dot(pen, middle + dx * unit * 1.4, bottom - unit * 0.5, size * 0.05)


def _dot(pen: ImageDraw.ImageDraw, x: float, y: float, radius: float) -> None:
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)


def _change(
    pen: ImageDraw.ImageDraw,
    change: str,
    box: tuple[float, float, float, float],
    letter: str,
    font: ImageFont.FreeTypeFont,
    size: int,
) -> None:
    """Do what makes another letter of one: a stroke through it, a stem, or no dot."""
    left, top, right, bottom = box
    width, tall = max(1, round(size * 0.06)), bottom - top
    if change == SLASH and letter in "lL":
        middle, reach = left + size * 0.05, size * 0.14
        y = bottom - tall * 0.45
        ends = (middle - reach, y + reach * 0.6, middle + reach * 1.2, y - reach * 0.6)
        pen.line(ends, fill=255, width=width)
    elif change == SLASH:
        over = size * 0.03
        pen.line((left - over, bottom + over, right + over, top - over), fill=255, width=width)
    elif change == TWICE_ACROSS:
        for share in (0.42, 0.58):
            y = top + share * size * 0.72
            pen.line((left - size * 0.06, y, right - size * 0.12, y), fill=255, width=width)
    elif change == ACROSS:
        _stroke_across(pen, box, letter, width)
    elif change == STEM:
        high = font.getbbox("l")[1]
        stroke = max(1, round(size * 0.085))
        pen.rectangle((left, high, left + stroke - 1, bottom), fill=255)
    elif change == DOTLESS:
        pen.rectangle((left - 1, 0, right + 1, font.getbbox("x")[1] - 1), fill=0)


def _stroke_across(
    pen: ImageDraw.ImageDraw, box: tuple[float, float, float, float], letter: str, width: int
) -> None:
    left, top, right, bottom = box
    wide, tall = right - left, bottom - top
    if letter in "DT":
        span, y = ((-0.15, 0.5) if letter == "D" else (0.2, 0.8)), 0.5
    elif letter == "H":
        span, y = (-0.08, 1.08), 0.25
    elif letter == "t":
        span, y = (0.0, 1.0), 0.6
    else:
        span, y = ((0.4, 1.15) if letter == "d" else (-0.15, 0.6)), 0.2
    height = top + tall * y
    pen.line((left + wide * span[0], height, left + wide * span[1], height), fill=255, width=width)
