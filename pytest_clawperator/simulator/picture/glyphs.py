"""What is drawn for each character of a text.

The font inside Pillow knows little beyond ASCII. Accents and the strokes of letters such as ø are
put on by hand, so that Latin text looks the same everywhere; other scripts are drawn with a font
of the machine, or appear as marks that stand for a character.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from pytest_clawperator.simulator.picture.system_fonts import can_shape, has_font, has_same_font

KNOWN = frozenset(map(chr, range(32, 127))) | frozenset("©«°±´·»‘’“”…‹›™")

ACROSS = "\u0335"  # a stroke through the middle of a letter
TWICE_ACROSS = "\u0333"  # two of them, as through the C of a euro sign
SLASH = "\u0338"
DOTLESS = "\u0000"
STEM = "\u0001"  # a stroke up to the height of a capital letter

# Letters that are others with something done to them.
_COMPOSED = {
    "ø": ("o", SLASH), "Ø": ("O", SLASH), "ł": ("l", SLASH), "Ł": ("L", SLASH),
    "đ": ("d", ACROSS), "Đ": ("D", ACROSS), "Ð": ("D", ACROSS), "ð": ("d", ACROSS),
    "ħ": ("h", ACROSS), "Ħ": ("H", ACROSS), "ŧ": ("t", ACROSS), "Ŧ": ("T", ACROSS),
    "ı": ("i", DOTLESS), "þ": ("p", STEM), "€": ("C", TWICE_ACROSS),
}  # fmt: skip
# Letters that are two, close together.
LIGATURES = {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"}
OWN_STROKES = frozenset("ß")
_INSTEAD = {"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "×": "x", "•": "·", "\t": " "}
_TRANSLATION = str.maketrans(_INSTEAD)
_ICON_CHARACTERS = {"✓": "check", "✔": "check", "←": "back", "→": "forward", "★": "star"}
_SAME_LETTER = "\u200d\ufe0f"


class Glyph(NamedTuple):
    """One thing to draw.

    Characters of the font with accents, a letter of two or of own strokes, an icon, some text of
    a ``foreign`` script, or a mark for a ``strange`` character that no font has.
    """

    text: str
    accents: str = ""
    icon: str = ""
    foreign: str = ""
    strange: str = ""


def readable(text: str) -> str:
    """Replace signs that the font lacks by similar ones, where there are such."""
    return text if text.isascii() else text.translate(_TRANSLATION)


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
    """Whether the second of two glyphs is of the same foreign script as the first."""
    if len(both) < 2 or not both[0].foreign:
        return False
    return has_same_font(both[0].foreign[0], both[1].foreign[0])


def _is_one_script(text: str) -> bool:
    """Whether a text has letters from right to left, and one font has all of it.

    Signs and numbers between such letters have places that only the whole text tells.
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
    if base in LIGATURES or base in OWN_STROKES:
        return Glyph(base, accents)
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
