"""Fonts of this machine, for scripts that the font inside Pillow lacks.

Which fonts there are differs from machine to machine, and so do pictures with such scripts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from PIL import ImageFont, features

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
    """Whether a font of this machine has a character."""
    return _path_with(character) is not None


def has_same_font(character: str, other: str) -> bool:
    """Whether the font of one character has the other, too."""
    path = _path_with(character)
    return path is not None and _has(path, other)


def can_shape() -> bool:
    """Whether letters can be joined and put from right to left, as Arabic needs it."""
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
