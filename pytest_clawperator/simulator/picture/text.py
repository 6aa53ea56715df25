"""Text for drawn screens: measured, shortened, wrapped, and drawn into masks.

The font is the one inside Pillow, so that every machine draws the same. It knows little beyond
ASCII: accents are put on by hand, other scripts appear as marks that stand for a character.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from pytest_clawperator.simulator.picture.masks import icon_mask

ELLIPSIS = "…"

# Screens are laid out without this font; a line may be a little wider than its room.
_SQUEEZE = 0.86
_SLACK = 1.05
_KNOWN = frozenset(map(chr, range(32, 127))) | frozenset("©«°±´·»‘’“”…‹›™")
_INSTEAD = {
    "–": "-",
    "—": "-",
    "−": "-",
    "‐": "-",
    "‑": "-",
    "×": "x",
    "•": "·",
    "ß": "ss",
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "Œ": "OE",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "Ł": "L",
    "đ": "d",
    "ı": "i",
    "\t": " ",
}
_TRANSLATION = str.maketrans(_INSTEAD)
_ICON_CHARACTERS = {"✓": "check", "✔": "check", "←": "back", "→": "forward", "★": "star"}
_ABOVE = {
    "\u0300": ((-0.5, -1), (0.5, 0)),
    "\u0301": ((-0.5, 0), (0.5, -1)),
    "\u0302": ((-0.6, 0), (0, -1), (0.6, 0)),
    "\u0303": ((-0.8, -0.2), (-0.3, -0.8), (0.3, -0.2), (0.8, -0.8)),
    "\u0304": ((-0.7, -0.4), (0.7, -0.4)),
    "\u030c": ((-0.6, -1), (0, 0), (0.6, -1)),
}
_ACROSS = "\u0335"  # two strokes through a letter, as through the C of a euro sign
_DOTS = {"\u0308": (-0.5, 0.5), "\u0307": (0.0,), "\u030a": (0.0,)}


class Glyph(NamedTuple):
    """One thing to draw: characters of the font, an icon, or a mark for what the font lacks."""

    text: str
    accents: str = ""
    icon: str = ""
    strange: str = ""


@lru_cache(maxsize=64)
def font(size: int) -> ImageFont.FreeTypeFont:
    """Load the font at a size in pixels."""
    plain = _any_font()
    # Complex layout is not available everywhere, and would move letters where it is.
    return plain.font_variant(size=size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=1)
def _any_font() -> ImageFont.FreeTypeFont:
    plain = ImageFont.load_default(12)
    if not isinstance(plain, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType; install its wheel to draw screens")
    return plain


def readable(text: str) -> str:
    """Replace characters that the font lacks by similar ones, where there are such."""
    return text if text.isascii() else text.translate(_TRANSLATION)


@lru_cache(maxsize=64)
def line_height(size: int) -> int:
    """Return the height of a line."""
    ascent, descent = font(size).getmetrics()
    return ascent + descent


@lru_cache(maxsize=4096)
def text_width(text: str, size: int) -> float:
    """Return the width of one line."""
    if _KNOWN.issuperset(text):
        return font(size).getlength(text)
    return sum(_advance(glyph, size) for glyph in glyphs(text))


@lru_cache(maxsize=2048)
def fitted(text: str, size: int, width: int) -> str:
    """Return a line that fits, squeezed a little or else shortened, with an ellipsis at its end."""
    if text_width(text, size) <= width / _SQUEEZE:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(text[:middle].rstrip() + ELLIPSIS, size) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + ELLIPSIS if low else ""


@lru_cache(maxsize=512)
def wrapped(text: str, size: int, width: int, most_lines: int) -> tuple[str, ...]:
    """Break text into lines that fit; what does not fit into the last one is cut there."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        words = paragraph.split(" ")
        line = words[0]
        for word in words[1:]:
            if text_width(f"{line} {word}", size) <= width * _SLACK:
                line = f"{line} {word}"
            else:
                lines.append(line)
                line = word
        lines.append(line)
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], " ".join(lines[most_lines - 1 :])]
    return tuple(fitted(line, size, width) for line in lines)


@lru_cache(maxsize=512)
def text_mask(text: str, size: int, *, bold: bool = False, room: int | None = None) -> Image.Image:
    """Draw one line of text, as high as ``line_height``; squeezed to ``room`` where it is wider."""
    stronger = max(1, round(size / 32)) if bold else 0
    natural = text_width(text, size)
    mask = Image.new("L", (int(natural) + 2 + stronger, line_height(size)))
    pen = ImageDraw.Draw(mask)
    for offset in {0, stronger}:
        if _KNOWN.issuperset(text):
            pen.text((offset, 0), text, fill=255, font=font(size))
        else:
            _draw_glyphs(mask, pen, text, size, offset)
    if room is None or natural <= room:
        return mask
    return mask.resize((room, mask.height), Image.Resampling.BILINEAR)


def glyphs(text: str) -> Iterator[Glyph]:
    """Yield what is to be drawn for each character."""
    base, accents = "", ""
    for character in unicodedata.normalize("NFD", text):
        if unicodedata.combining(character):
            accents += character
            continue
        if base:
            yield _glyph(base, accents)
        base, accents = character, ""
    if base:
        yield _glyph(base, accents)


def _glyph(base: str, accents: str) -> Glyph:
    if base in _KNOWN:
        return Glyph(base, accents)
    if base == "€":
        return Glyph("C", _ACROSS)
    if base in _INSTEAD:  # with an accent on it
        return Glyph(_INSTEAD[base], accents)
    if base in _ICON_CHARACTERS:
        return Glyph("", icon=_ICON_CHARACTERS[base])
    category = unicodedata.category(base)
    if category.startswith("Z"):
        return Glyph(" ")
    if category.startswith(("C", "M")) or base in "\u200d\ufe0f":
        return Glyph("")
    if ord(base) >= 0x1F000 or category == "So":
        return Glyph("", icon="smile")
    return Glyph("", strange=base)


@lru_cache(maxsize=1024)
def _advance(glyph: Glyph, size: int) -> float:
    if glyph.icon:
        return size * 1.1
    if glyph.strange:
        return size * (0.95 if unicodedata.east_asian_width(glyph.strange) in "WF" else 0.6)
    return font(size).getlength(glyph.text) if glyph.text else 0.0


def _draw_glyphs(
    mask: Image.Image, pen: ImageDraw.ImageDraw, text: str, size: int, offset: int
) -> None:
    x = float(offset)
    ascent = font(size).getmetrics()[0]
    for glyph in glyphs(text):
        advance = _advance(glyph, size)
        if glyph.icon:
            mask.paste(255, (int(x), int(ascent - size * 0.85)), icon_mask(glyph.icon, size))
        elif glyph.strange:
            _draw_strange(pen, glyph.strange, x, ascent, size)
        elif glyph.text:
            pen.text((x, 0), glyph.text, fill=255, font=font(size))
            _draw_accents(pen, glyph, x, size)
        x += advance


def _draw_accents(pen: ImageDraw.ImageDraw, glyph: Glyph, x: float, size: int) -> None:
    left, top, right, _ = font(size).getbbox(glyph.text)
    middle, unit = x + (left + right) / 2, size * 0.16
    bottom = top - size * 0.06
    if glyph.text in "ij":  # their own dot is there already
        return
    for accent in glyph.accents:
        if accent == _ACROSS:
            for y in (0.42, 0.58):
                height = top + y * size * 0.72
                end = x + right - size * 0.12
                pen.line((x, height, end, height), fill=255, width=max(1, round(size * 0.06)))
        if accent in _ABOVE:
            points = [(middle + dx * unit, bottom + dy * unit) for dx, dy in _ABOVE[accent]]
            pen.line(points, fill=255, width=max(1, round(size * 0.07)))
        for dx in _DOTS.get(accent, ()):
            centre, y, radius = middle + dx * unit * 1.4, bottom - unit * 0.5, size * 0.05
            pen.ellipse((centre - radius, y - radius, centre + radius, y + radius), fill=255)


def _draw_strange(
    pen: ImageDraw.ImageDraw, character: str, x: float, ascent: int, size: int
) -> None:
    """Draw a mark that stands for a character; different characters have different marks."""
    width = _advance(Glyph("", strange=character), size) * 0.8
    top, line = ascent - size * 0.72, max(1, round(size * 0.06))
    left, right, bottom = x + size * 0.06, x + width, float(ascent)
    code = ord(character)
    pen.rectangle((left, top, right, bottom), outline=255, width=line)
    for step in range(1, 4):
        if code >> step & 1:
            y = top + (bottom - top) * step / 4
            pen.line((left, y, right, y), fill=255, width=line)
        if code >> (step + 3) & 1:
            across = left + (right - left) * step / 4
            pen.line((across, top, across, bottom), fill=255, width=line)
