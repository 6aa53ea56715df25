"""What is drawn on: shapes, texts and icons in the colours of a theme."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from PIL import Image, ImageDraw

from pytest_clawperator.simulator.picture.icons import corner_masks, disc_mask, icon_mask
from pytest_clawperator.simulator.picture.text import (
    fitted,
    line_height,
    text_mask,
    text_width,
    wrapped,
)
from pytest_clawperator.simulator.screen.accessibility import Bounds

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Theme:
    """The colours of the parts of a screen; ``on_x`` is for what stands on ``x``."""

    background: Colour
    surface: Colour
    raised: Colour
    ink: Colour
    faint_ink: Colour
    primary: Colour
    on_primary: Colour
    accent: Colour
    on_accent: Colour
    outline: Colour
    line: Colour
    disabled: Colour
    disabled_ink: Colour
    inverse: Colour
    on_inverse: Colour
    error: Colour
    on_error: Colour
    keyboard: Colour
    key: Colour
    special_key: Colour
    wallpaper: tuple[Colour, Colour]


# The colours in light and in dark.
_COLOURS: Mapping[str, tuple[Any, Any]] = {
    "background": ((250, 250, 253), (17, 19, 24)),
    "surface": ((238, 240, 247), (29, 32, 38)),
    "raised": ((236, 238, 246), (40, 43, 50)),
    "ink": ((26, 28, 32), (228, 228, 234)),
    "faint_ink": ((84, 88, 98), (172, 176, 186)),
    "primary": ((52, 96, 171), (170, 199, 255)),
    "on_primary": ((255, 255, 255), (10, 48, 95)),
    "accent": ((214, 227, 255), (40, 71, 119)),
    "on_accent": ((16, 45, 92), (214, 227, 255)),
    "outline": ((122, 126, 136), (142, 146, 155)),
    "line": ((222, 225, 232), (48, 51, 58)),
    "disabled": ((226, 227, 231), (45, 47, 53)),
    "disabled_ink": ((160, 162, 168), (106, 109, 117)),
    "inverse": ((47, 49, 54), (226, 226, 233)),
    "on_inverse": ((241, 240, 245), (47, 48, 54)),
    "error": ((186, 38, 38), (255, 180, 171)),
    "on_error": ((255, 255, 255), (105, 0, 5)),
    "keyboard": ((231, 234, 242), (26, 29, 35)),
    "key": ((255, 255, 255), (54, 58, 67)),
    "special_key": ((208, 217, 236), (41, 57, 86)),
    "wallpaper": (((96, 135, 196), (226, 190, 198)), ((24, 34, 58), (72, 48, 66))),
}
LIGHT, DARK = (
    Theme(**{name: pair[dark] for name, pair in _COLOURS.items()}) for dark in (False, True)
)

_TINTS: tuple[Colour, ...] = (
    (66, 118, 214), (31, 140, 106), (196, 98, 28), (128, 86, 196), (196, 66, 92), (24, 134, 156),
    (112, 122, 40), (94, 106, 128), (0, 121, 191), (160, 82, 128), (58, 128, 54),
)  # fmt: skip


def tint(name: str) -> Colour:
    """Return the colour of a name; the same name always has the same."""
    return _TINTS[zlib.crc32(name.encode("utf-8", "surrogatepass")) % len(_TINTS)]


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    """Mix two colours; ``share`` is the part of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


Align = Literal["left", "centre", "right"]
LINE_SPACING = 1.35
"""How much higher than its text a line of a screen is laid out."""


_PHONE_WIDTH_DP = 411.43
# A hair more than 160, so that half a pixel is rounded down on a phone of 420 dpi.
_BASELINE = _PHONE_WIDTH_DP * 420 / 1080
_LONGEST_TEXT = 1000  # more can never be seen, and would only take time


class Canvas:
    """The screen's picture, measured in pixels; ``dp`` turns Android's units into them.

    Without a ``density`` the screen is as many dp wide as that of a usual phone. ``sp`` is for
    sizes of text, which the user's ``font_scale`` makes larger or smaller.
    """

    def __init__(
        self,
        size: tuple[int, int],
        theme: Theme,
        *,
        density: int | None = None,
        font_scale: float = 1.0,
    ) -> None:
        self.theme = theme
        self.image = Image.new("RGB", size, theme.background)
        self.screen = Bounds(0, 0, *size)
        self.clip = self.screen
        self._pen = ImageDraw.Draw(self.image)
        self.scale = max(
            0.25, min(size) / _PHONE_WIDTH_DP if density is None else density / _BASELINE
        )
        self.font_scale = font_scale

    def dp(self, units: float) -> int:
        """Return a length in pixels, at least one."""
        return max(1, round(units * self.scale))

    def sp(self, units: float) -> int:
        """Return a size of text in pixels, at least one."""
        return max(1, round(units * self.scale * self.font_scale))

    def rectangle(self, box: Bounds, colour: Colour) -> None:
        """Fill a box."""
        left, top, right, bottom = box.clipped(self.clip)
        if left < right and top < bottom:
            self._pen.rectangle((left, top, right - 1, bottom - 1), fill=colour)

    def rounded(self, box: Bounds, radius: int, colour: Colour) -> None:
        """Fill a box with round corners; a large radius makes it a pill."""
        radius = min(radius, box.width // 2, box.height // 2)
        if radius < 1:
            self.rectangle(box, colour)
            return
        left, top, right, bottom = box
        self.rectangle(Bounds(left, top + radius, right, bottom - radius), colour)
        self.rectangle(Bounds(left + radius, top, right - radius, top + radius), colour)
        self.rectangle(Bounds(left + radius, bottom - radius, right - radius, bottom), colour)
        places = (
            (left, top),
            (right - radius, top),
            (left, bottom - radius),
            (right - radius, bottom - radius),
        )
        for mask, place in zip(corner_masks(radius), places, strict=True):
            self.stamp(mask, place, colour)

    def frame(
        self, box: Bounds, radius: int, line: Colour, inside: Colour, *, width: float = 1
    ) -> None:
        """Fill a box with round corners and a line around it."""
        self.rounded(box, radius, line)
        thick = self.dp(width)
        self.rounded(inset(box, thick), radius - thick, inside)

    def disc(self, box: Bounds, colour: Colour) -> None:
        """Fill the largest circle in the middle of a box."""
        side = min(box.width, box.height)
        if side > 0:
            place = square(box, side)
            self.stamp(disc_mask(side), (place.left, place.top), colour)

    def icon(self, name: str, box: Bounds, colour: Colour, *, weight: float = 0.085) -> None:
        """Draw an icon as large as fits into the middle of a box."""
        side = min(box.width, box.height)
        if side > 0:
            place = square(box, side)
            self.stamp(icon_mask(name, side, weight), (place.left, place.top), colour)

    def text(
        self,
        box: Bounds,
        text: str,
        colour: Colour,
        *,
        size: float,
        align: Align = "left",
        bold: bool = False,
        lines: int = 1,
    ) -> None:
        """Write text of a size in sp, shortened to the box's width and in its middle height."""
        text = text[:_LONGEST_TEXT]
        pixels = self._font_size(box, size)
        height = line_height(pixels)
        lines = max(1, min(lines, box.height // height))
        if lines == 1:
            shown: tuple[str, ...] = (fitted(text.replace("\n", " "), pixels, box.width),)
        else:
            shown = wrapped(text, pixels, box.width, lines)
        y = box.top + (box.height - height * len(shown)) // 2
        for line in shown:
            mask = text_mask(line, pixels, bold=bold, room=box.width)
            room = box.width - min(box.width, int(text_width(line, pixels)))
            shift = {"left": 0, "centre": room // 2, "right": room}[align]
            self.stamp(mask, (box.left + shift, y), colour, within=box)
            y += height

    def text_height(self, text: str, size: float, width: int) -> int:
        """Return the height of the box that text of a size in sp needs at a width."""
        lines = self.count_lines(text, size, width)
        return round(lines * size * LINE_SPACING * self.scale * self.font_scale)

    def count_lines(self, text: str, size: float, width: int) -> int:
        """Count the lines that text of a size in sp takes at a width."""
        return len(wrapped(text[:_LONGEST_TEXT], self.sp(size), width, 50))

    def stamp(
        self,
        mask: Image.Image,
        place: tuple[int, int],
        colour: Colour,
        *,
        within: Bounds | None = None,
    ) -> None:
        """Paint through a mask, but not outside the clip."""
        x, y = place
        clip = self.clip if within is None else within.clipped(self.clip)
        full = Bounds(x, y, x + mask.width, y + mask.height)
        part = full.clipped(clip)
        if part.width == 0 or part.height == 0:
            return
        if part != full:
            mask = mask.crop((part.left - x, part.top - y, part.right - x, part.bottom - y))
        self.image.paste(colour, part, mask)

    def shade(self, strength: float) -> None:
        """Darken everything that was painted so far."""
        table = [round(value * (1 - strength)) for value in range(256)] * 3
        self.image.paste(self.image.point(table))

    def _font_size(self, box: Bounds, size: float) -> int:
        """Shrink text a little where its box is low, before any of it is cut off."""
        wanted = self.sp(size)
        smallest = max(6, round(wanted * 0.86))
        while wanted > smallest and line_height(wanted) > box.height:
            wanted -= 1
        return max(6, wanted)


def inset(box: Bounds, across: int, down: int | None = None) -> Bounds:
    """Return a box with its sides moved inward."""
    down = across if down is None else down
    left, top = min(box.left + across, box.right), min(box.top + down, box.bottom)
    return Bounds(left, top, max(left, box.right - across), max(top, box.bottom - down))


def square(box: Bounds, side: int) -> Bounds:
    """Return a square in the middle of a box."""
    left = box.left + (box.width - side) // 2
    top = box.top + (box.height - side) // 2
    return Bounds(left, top, left + side, top + side)
