"""Text for drawn screens: measured, shortened, wrapped, and drawn into masks.

The font is the one inside Pillow, so that every machine draws the same, apart from scripts that it
lacks: see ``fonts``.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from pytest_clawperator.simulator.picture.fonts import KNOWN, Glyph, draw_accents, font_with, glyphs
from pytest_clawperator.simulator.picture.icons import icon_mask

ELLIPSIS = "…"
# Screens are laid out without this font; a line may be a little wider than its room.
_SQUEEZE = 0.86
_SLACK = 1.05


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


@lru_cache(maxsize=64)
def line_height(size: int) -> int:
    """Return the height of a line."""
    ascent, descent = font(size).getmetrics()
    return ascent + descent


@lru_cache(maxsize=4096)
def text_width(text: str, size: int) -> float:
    """Return the width of one line."""
    if KNOWN.issuperset(text):
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
        if KNOWN.issuperset(text):
            pen.text((offset, 0), text, fill=255, font=font(size))
        else:
            _draw_glyphs(mask, pen, text, size, offset)
    if room is None or natural <= room:
        return mask
    return mask.resize((room, mask.height), Image.Resampling.BILINEAR)


@lru_cache(maxsize=1024)
def _advance(glyph: Glyph, size: int) -> float:
    if glyph.icon:
        return size * 1.1
    if glyph.foreign:
        return _foreign_font(glyph.foreign, size).getlength(glyph.foreign)
    if glyph.strange:
        return size * (0.95 if unicodedata.east_asian_width(glyph.strange) in "WF" else 0.6)
    return font(size).getlength(glyph.text) if glyph.text else 0.0


def _foreign_font(text: str, size: int) -> ImageFont.FreeTypeFont:
    return font_with(text[0], size) or font(size)


def _draw_glyphs(
    mask: Image.Image, pen: ImageDraw.ImageDraw, text: str, size: int, offset: int
) -> None:
    x = float(offset)
    ascent = font(size).getmetrics()[0]
    for glyph in glyphs(text):
        if glyph.icon:
            mask.paste(255, (int(x), int(ascent - size * 0.85)), icon_mask(glyph.icon, size))
        elif glyph.foreign:
            other = _foreign_font(glyph.foreign, size)
            pen.text((x, ascent), glyph.foreign, fill=255, font=other, anchor="ls")
        elif glyph.strange:
            _draw_strange(pen, glyph.strange, x, ascent, size)
        elif glyph.text:
            pen.text((x, 0), glyph.text, fill=255, font=font(size))
            draw_accents(pen, glyph, x, font=font(size), size=size)
        x += _advance(glyph, size)


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
