"""Smooth shapes and icons as masks, each of which is made once."""

from __future__ import annotations

import math
from functools import lru_cache

from PIL import Image, ImageDraw

from pytest_clawperator.simulator.picture.icon_strokes import ICONS, Arc, Dot, Stroke

_FINER = 4  # shapes are drawn this much larger and scaled down, for smooth edges


@lru_cache(maxsize=256)
def icon_mask(name: str, side: int, weight: float = 0.085) -> Image.Image:
    """Draw an icon into a square of ``side`` pixels, with lines of ``weight`` times its side."""
    large = Image.new("L", (side * _FINER, side * _FINER))
    pen = ImageDraw.Draw(large)
    width = max(_FINER, round(side * _FINER * weight))
    for stroke in ICONS[name]:
        _draw_stroke(pen, stroke, side * _FINER, width)
    return large.resize((side, side), Image.Resampling.BOX)


@lru_cache(maxsize=128)
def disc_mask(diameter: int) -> Image.Image:
    """Draw a filled circle."""
    large = Image.new("L", (diameter * _FINER, diameter * _FINER))
    ImageDraw.Draw(large).ellipse((0, 0, diameter * _FINER - 1, diameter * _FINER - 1), fill=255)
    return large.resize((diameter, diameter), Image.Resampling.BOX)


@lru_cache(maxsize=64)
def corner_masks(radius: int) -> tuple[Image.Image, Image.Image, Image.Image, Image.Image]:
    """Return the rounded corners: top left, top right, bottom left, bottom right."""
    disc, middle, end = disc_mask(radius * 2), radius, radius * 2
    return (
        disc.crop((0, 0, middle, middle)),
        disc.crop((middle, 0, end, middle)),
        disc.crop((0, middle, middle, end)),
        disc.crop((middle, middle, end, end)),
    )


def _draw_stroke(pen: ImageDraw.ImageDraw, stroke: Stroke, side: int, width: int) -> None:
    if isinstance(stroke, Dot):
        _dot(pen, stroke.x * side, stroke.y * side, stroke.radius * side)
    elif isinstance(stroke, Arc):
        _arc(pen, stroke, side, width)
    else:
        points = [(x * side, y * side) for x, y in stroke]
        pen.line(points, fill=255, width=width, joint="curve")
        for x, y in (points[0], points[-1]):
            _dot(pen, x, y, width / 2)


def _arc(pen: ImageDraw.ImageDraw, arc: Arc, side: int, width: int) -> None:
    outer = arc.radius * side + width / 2
    x, y = arc.x * side, arc.y * side
    pen.arc((x - outer, y - outer, x + outer, y + outer), arc.start, arc.end, 255, width)
    if arc.end - arc.start < 360:
        for angle in (math.radians(arc.start), math.radians(arc.end)):
            across, down = math.cos(angle) * arc.radius, math.sin(angle) * arc.radius
            _dot(pen, x + across * side, y + down * side, width / 2)


def _dot(pen: ImageDraw.ImageDraw, x: float, y: float, radius: float) -> None:
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
