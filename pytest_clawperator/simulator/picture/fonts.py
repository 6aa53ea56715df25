"""Glyphs: a small built-in font, accents, and fonts of the machine for other scripts."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from PIL import ImageDraw, ImageFont, features

# Where systems keep their fonts; the home folder last, as it differs most.
_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fonts-droid-fallback",
    "/System/Library/Fonts", "/Library/Fonts", "~/.local/share/fonts", "~/.fonts",
    "~/Library/Fonts",
)  # fmt: skip
_ENDINGS = (".ttf", ".otf", ".ttc")
# Looking through them must not take longer than a moment, however many there are.
_MOST_FILES, _MOST_FONTS, _DEEPEST = 5000, 300, 6
# Words in the names of fonts that are a second choice.
_SECOND_CHOICE = (
    "bold", "italic", "oblique", "mono", "serif", "light", "thin", "black", "condensed",
    "medium", "heavy", "emoji", "symbol", "unifont",
)  # fmt: skip
_NOT_A_CHARACTER = "\U0010ffff"
_PROBE_SIZE = 20
_BLOCK = 256


def font_with(character: str, size: int) -> ImageFont.FreeTypeFont | None:
    """Return a font at a size in pixels that has a character; None where the machine has none."""
    path = _path_with(character)
    return None if path is None else _loaded(path, size)


def has_font(character: str) -> bool:
    """Return whether a font of this machine has a character."""
    return _path_with(character) is not None


def has_same_font(character: str, other: str) -> bool:
    """Return whether the font of one character has the other, too."""
    path = _path_with(character)
    return path is not None and _has(path, other)


def can_shape() -> bool:
    """Return whether letters can be joined and put from right to left, as Arabic needs it."""
    return bool(features.check("raqm"))


@lru_cache(maxsize=4096)
def _path_with(character: str) -> str | None:
    """Return the first font that has a character; first asked is the one of its neighbours."""
    usual = _path_of_block(ord(character) // _BLOCK)
    if usual is not None and _has(usual, character):
        return usual
    return next((path for path in font_files() if _has(path, character)), None)


@lru_cache(maxsize=256)
def _path_of_block(block: int) -> str | None:
    """Return the font that has most of some characters of a block, so that a word has one font."""
    middle = [chr(block * _BLOCK + offset) for offset in range(0x10, _BLOCK, 0x15)]
    known = {path: sum(_has(path, one) for one in middle) for path in font_files()}
    best = max(known, key=lambda path: known[path], default=None)
    return best if best is not None and known[best] else None


@lru_cache(maxsize=1)
def font_files() -> tuple[str, ...]:
    """List the fonts of this machine, plain ones first; the same files give the same order."""
    found = sorted(_files(), key=lambda path: (_penalty(path), path))
    return tuple(found[:_MOST_FONTS])


def _files() -> Iterator[str]:
    left = _MOST_FILES
    for folder in _FOLDERS if sys.platform != "win32" else ():
        top = Path(folder).expanduser()
        for place, folders, names in os.walk(top):
            if len(Path(place).relative_to(top).parts) >= _DEEPEST:
                folders.clear()
            folders.sort()
            left -= len(names)
            if left < 0:
                return
            yield from (f"{place}/{name}" for name in names if name.lower().endswith(_ENDINGS))


def _penalty(path: str) -> int:
    name = os.path.basename(path).lower()  # noqa: PTH119 - there may be thousands
    return sum(word in name for word in _SECOND_CHOICE)


@lru_cache(maxsize=64)
def _loaded(path: str, size: int) -> ImageFont.FreeTypeFont:
    layout = ImageFont.Layout.RAQM if can_shape() else ImageFont.Layout.BASIC
    return ImageFont.truetype(path, size, layout_engine=layout)


@lru_cache(maxsize=8192)
def _has(path: str, character: str) -> bool:
    probe = _probe(path)
    if probe is None:
        return False
    font, missing = probe
    drawn = font.getmask(character)
    return drawn.getbbox() is not None and (drawn.size, bytes(drawn)) != missing


@lru_cache(maxsize=_MOST_FONTS)
def _probe(path: str) -> tuple[ImageFont.FreeTypeFont, tuple[tuple[int, int], bytes]] | None:
    """Load a font, and what it draws for a character that it lacks; None for an unusable file."""
    try:
        font = ImageFont.truetype(path, _PROBE_SIZE, layout_engine=ImageFont.Layout.BASIC)
        missing = font.getmask(_NOT_A_CHARACTER)
    except (OSError, ValueError):
        return None
    return font, (missing.size, bytes(missing))


KNOWN = frozenset(map(chr, range(32, 127))) | frozenset("©«°±´·»‘’“”…‹›™")
# Changes that make another letter of one; accents are combining characters beside them.
_SLASH, _ACROSS, _TWICE_ACROSS, _STEM, _DOTLESS = "\u0338", "\u0335", "\u0333", "\u0001", "\u0000"
# Letters that are others with something done to them.
_COMPOSED = {
    "ø": ("o", _SLASH), "Ø": ("O", _SLASH), "ł": ("l", _SLASH), "Ł": ("L", _SLASH),
    "đ": ("d", _ACROSS), "Đ": ("D", _ACROSS), "Ð": ("D", _ACROSS), "ð": ("d", _ACROSS),
    "ħ": ("h", _ACROSS), "Ħ": ("H", _ACROSS), "ŧ": ("t", _ACROSS), "Ŧ": ("T", _ACROSS),
    "ı": ("i", _DOTLESS), "þ": ("p", _STEM), "€": ("C", _TWICE_ACROSS),
}  # fmt: skip
# Characters that others stand for.
_INSTEAD = {
    "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "×": "x", "•": "·", "\t": " ",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ß": "ss",
}  # fmt: skip
_ICON_CHARACTERS = {"✓": "check", "✔": "check", "←": "back", "→": "forward", "★": "star"}
_SAME_LETTER = "\u200d\ufe0f"


class Glyph(NamedTuple):
    """One thing to draw: letters with accents, an icon, or a text that the font lacks.

    The machine has a font for ``foreign`` text; a ``strange`` character gets a mark.
    """

    text: str
    accents: str = ""
    icon: str = ""
    foreign: str = ""
    strange: str = ""


def glyphs(text: str) -> list[Glyph]:
    """Return what is to be drawn; characters of one foreign script in a row are one glyph."""
    found: list[Glyph] = []
    text = unicodedata.normalize("NFC", text)
    if _is_one_script(text):
        return [Glyph("", foreign=text)]
    for glyph in map(_glyph, _clusters(text)):
        if glyph.foreign and found and _goes_on(found[-1], glyph):
            found[-1] = Glyph("", foreign=found[-1].foreign + glyph.foreign)
        elif glyph.foreign and found[-1:] == [Glyph(" ")] and _goes_on(*found[-2:-1], glyph):
            # The space between two words is theirs: the second may stand left of the first.
            found[-2:] = [Glyph("", foreign=f"{found[-2].foreign} {glyph.foreign}")]
        else:
            found.append(glyph)
    return found


def _goes_on(*both: Glyph) -> bool:
    """Return whether the second of two glyphs is of the same foreign script as the first."""
    if len(both) < 2 or not both[0].foreign:
        return False
    return has_same_font(both[0].foreign[0], both[1].foreign[0])


def _is_one_script(text: str) -> bool:
    """Return whether a text has letters from right to left, and one font has all of it.

    The places of signs and numbers between such letters depend on the whole text.
    """
    first = next((one for one in text if unicodedata.bidirectional(one) in ("R", "AL")), None)
    if first is None or not can_shape():
        return False
    return all(has_same_font(first, one) for one in text if not one.isspace())


def _clusters(text: str) -> Iterator[str]:
    """Yield each character with the marks that belong to it."""
    cluster = ""
    for character in text:
        is_mark = unicodedata.category(character).startswith("M") or character in _SAME_LETTER
        if cluster and not is_mark:
            yield cluster
            cluster = ""
        cluster += character
    if cluster:
        yield cluster


def _glyph(cluster: str) -> Glyph:
    decomposed = unicodedata.normalize("NFD", cluster)
    base, accents = decomposed[0], decomposed[1:]
    if base in KNOWN:
        return Glyph(base, accents)
    if base in _COMPOSED:
        letter, change = _COMPOSED[base]
        return Glyph(letter, change + accents)
    if base in _INSTEAD:
        return Glyph(_INSTEAD[base], accents)
    if base in _ICON_CHARACTERS:
        return Glyph("", icon=_ICON_CHARACTERS[base])
    category = unicodedata.category(base)
    if category.startswith("Z"):
        return Glyph(" ")
    if category.startswith(("C", "M")):
        return Glyph("")
    if ord(base) >= 0x1F000 or category == "So":
        return Glyph("", icon="smile")
    if has_font(cluster[0]):
        return Glyph("", foreign=cluster)
    return Glyph("", strange=base)


_Point = tuple[float, float]
_Strokes = Mapping[str, Sequence[Sequence[_Point]]]
# The lines of accents, in units of a sixth of the letter's size: across from its middle, up from
# its upper edge, or down from its lower one.
_ABOVE: _Strokes = {
    "\u0300": [[(-0.5, 1), (0.5, 0)]],
    "\u0301": [[(-0.5, 0), (0.5, 1)]],
    "\u0302": [[(-0.6, 0), (0, 1), (0.6, 0)]],
    "\u0303": [[(-0.8, 0.2), (-0.3, 0.8), (0.3, 0.2), (0.8, 0.8)]],
    "\u0304": [[(-0.7, 0.4), (0.7, 0.4)]],
    "\u0306": [[(-0.6, 1), (-0.3, 0.3), (0.3, 0.3), (0.6, 1)]],
    "\u0307": [[(-0.2, 0.5), (0.2, 0.5)]],
    "\u0308": [[(-0.9, 0.5), (-0.5, 0.5)], [(0.5, 0.5), (0.9, 0.5)]],
    "\u030a": [[(0, 1.1), (-0.5, 0.6), (0, 0.1), (0.5, 0.6), (0, 1.1)]],
    "\u030b": [[(-0.7, 0), (-0.1, 1)], [(0.2, 0), (0.8, 1)]],
    "\u030c": [[(-0.6, 1), (0, 0), (0.6, 1)]],
}
_BELOW: _Strokes = {
    "\u0323": [[(-0.2, 0.7), (0.2, 0.7)]],
    "\u0326": [[(0.1, 0.3), (-0.2, 1.1)]],
    "\u0327": [[(0, 0), (0.4, 0.5), (0.1, 1.0), (-0.4, 0.9)]],
    "\u0328": [[(0.6, 0), (0.3, 0.5), (0.5, 1.0), (0.9, 0.9)]],
}
# The same through a letter, in shares of its width and height, from its upper left corner.
_THROUGH: _Strokes = {
    _SLASH: [[(-0.1, 1.05), (1.1, -0.05)]],
    _ACROSS: [[(-0.15, 0.3), (1.1, 0.3)]],
    _TWICE_ACROSS: [[(-0.1, 0.42), (0.85, 0.42)], [(-0.1, 0.58), (0.85, 0.58)]],
    _STEM: [[(0.06, -0.35), (0.06, 0.5)]],
}


def draw_accents(
    pen: ImageDraw.ImageDraw, glyph: Glyph, x: float, *, font: ImageFont.FreeTypeFont, size: int
) -> None:
    """Draw what a letter has besides: accents, dots, hooks and strokes."""
    left, top, right, bottom = _ink(glyph.text, x, font)
    middle, unit, width = (left + right) / 2, size * 0.16, max(1, round(size * 0.07))
    for accent in glyph.accents:
        if glyph.text in "ij" and (accent in _ABOVE or accent == _DOTLESS):
            # The accent takes the place of the dot.
            top = font.getbbox("x")[1]
            pen.rectangle((left - 1, 0, right + 1, top - 1), fill=0)
        lines = [
            *_placed(_ABOVE, accent, (middle, top - size * 0.06), (unit, -unit)),
            *_placed(_BELOW, accent, (middle, bottom), (unit, unit)),
            *_placed(_THROUGH, accent, (left, top), (right - left, bottom - top)),
        ]
        for line in lines:
            pen.line(line, fill=255, width=width)


def _ink(letter: str, x: float, font: ImageFont.FreeTypeFont) -> tuple[float, float, float, float]:
    """Return where a letter at ``x`` is black; its box in the font also has the room beside it."""
    mask, (left, top) = font.getmask2(letter, mode="L")
    box = mask.getbbox() or (0, 0, 0, 0)
    return x + left + box[0], top + box[1], x + left + box[2], top + box[3]


def _placed(table: _Strokes, accent: str, origin: _Point, unit: _Point) -> list[list[_Point]]:
    """Return the lines of an accent in pixels."""
    return [
        [(origin[0] + a * unit[0], origin[1] + b * unit[1]) for a, b in line]
        for line in table.get(accent, ())
    ]
