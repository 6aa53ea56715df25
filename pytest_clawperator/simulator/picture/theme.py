"""The colours of a drawn screen, light and dark."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

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


LIGHT = Theme(
    background=(250, 250, 253),
    surface=(238, 240, 247),
    raised=(236, 238, 246),
    ink=(26, 28, 32),
    faint_ink=(84, 88, 98),
    primary=(52, 96, 171),
    on_primary=(255, 255, 255),
    accent=(214, 227, 255),
    on_accent=(16, 45, 92),
    outline=(122, 126, 136),
    line=(222, 225, 232),
    disabled=(226, 227, 231),
    disabled_ink=(160, 162, 168),
    inverse=(47, 49, 54),
    on_inverse=(241, 240, 245),
    error=(186, 38, 38),
    on_error=(255, 255, 255),
    keyboard=(231, 234, 242),
    key=(255, 255, 255),
    special_key=(208, 217, 236),
    wallpaper=((96, 135, 196), (226, 190, 198)),
)
DARK = Theme(
    background=(17, 19, 24),
    surface=(29, 32, 38),
    raised=(40, 43, 50),
    ink=(228, 228, 234),
    faint_ink=(172, 176, 186),
    primary=(170, 199, 255),
    on_primary=(10, 48, 95),
    accent=(40, 71, 119),
    on_accent=(214, 227, 255),
    outline=(142, 146, 155),
    line=(48, 51, 58),
    disabled=(45, 47, 53),
    disabled_ink=(106, 109, 117),
    inverse=(226, 226, 233),
    on_inverse=(47, 48, 54),
    error=(255, 180, 171),
    on_error=(105, 0, 5),
    keyboard=(26, 29, 35),
    key=(54, 58, 67),
    special_key=(41, 57, 86),
    wallpaper=((24, 34, 58), (72, 48, 66)),
)
_TINTS: tuple[Colour, ...] = (
    (66, 118, 214),
    (31, 140, 106),
    (196, 98, 28),
    (128, 86, 196),
    (196, 66, 92),
    (24, 134, 156),
    (112, 122, 40),
    (94, 106, 128),
    (0, 121, 191),
    (160, 82, 128),
    (58, 128, 54),
)


def tint(name: str) -> Colour:
    """Return the colour of a name; the same name always has the same."""
    return _TINTS[zlib.crc32(name.encode("utf-8", "surrogatepass")) % len(_TINTS)]


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    """Mix two colours; ``share`` is the part of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue
