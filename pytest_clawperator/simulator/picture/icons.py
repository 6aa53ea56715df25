"""Masks of icons and rounded shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from PIL import Image, ImageDraw

Point = tuple[float, float]


class Arc(NamedTuple):
    """A part of a circle, in degrees clockwise from three o'clock."""

    x: float
    y: float
    radius: float
    start: float = 0
    end: float = 360


class Dot(NamedTuple):
    """A filled circle."""

    x: float
    y: float
    radius: float


Stroke = Arc | Dot | Sequence[Point]


def _rays(inner: float) -> list[list[Point]]:
    """Return eight lines around the middle, from one distance to another."""
    turns = [math.tau * step / 8 for step in range(8)]
    return [
        [(0.5 + far * math.cos(turn), 0.5 + far * math.sin(turn)) for far in (inner, 0.42)]
        for turn in turns
    ]


ICONS: Mapping[str, Sequence[Stroke]] = {
    "back": [[(0.85, 0.5), (0.17, 0.5)], [(0.47, 0.18), (0.15, 0.5), (0.47, 0.82)]],
    "forward": [[(0.38, 0.2), (0.68, 0.5), (0.38, 0.8)]],
    "close": [[(0.2, 0.2), (0.8, 0.8)], [(0.8, 0.2), (0.2, 0.8)]],
    "search": [Arc(0.42, 0.42, 0.27), [(0.62, 0.62), (0.88, 0.88)]],
    "more": [Dot(0.5, 0.2, 0.085), Dot(0.5, 0.5, 0.085), Dot(0.5, 0.8, 0.085)],
    "menu": [[(0.15, y), (0.85, y)] for y in (0.25, 0.5, 0.75)],
    "plus": [[(0.5, 0.15), (0.5, 0.85)], [(0.15, 0.5), (0.85, 0.5)]],
    "minus": [[(0.15, 0.5), (0.85, 0.5)]],
    "check": [[(0.15, 0.52), (0.4, 0.77), (0.86, 0.26)]],
    "cart": [
        [(0.08, 0.15), (0.22, 0.15), (0.34, 0.64), (0.8, 0.64), (0.9, 0.28), (0.27, 0.28)],
        Dot(0.4, 0.83, 0.075),
        Dot(0.74, 0.83, 0.075),
    ],
    "person": [Arc(0.5, 0.33, 0.19), Arc(0.5, 0.95, 0.36, 195, 345)],
    "home": [
        [(0.1, 0.5), (0.5, 0.14), (0.9, 0.5)],
        [(0.22, 0.42), (0.22, 0.85), (0.78, 0.85), (0.78, 0.42)],
    ],
    "gear": [
        Arc(0.5, 0.5, 0.26),
        Dot(0.5, 0.5, 0.09),
        *_rays(0.3),
    ],
    "wifi": [
        Arc(0.5, 0.82, 0.6, 225, 315),
        Arc(0.5, 0.82, 0.36, 225, 315),
        Dot(0.5, 0.8, 0.09),
    ],
    "bluetooth": [[(0.27, 0.3), (0.73, 0.7), (0.5, 0.92), (0.5, 0.08), (0.73, 0.3), (0.27, 0.7)]],
    "battery": [
        [(0.3, 0.22), (0.7, 0.22), (0.7, 0.9), (0.3, 0.9), (0.3, 0.22)],
        [(0.43, 0.12), (0.57, 0.12)],
        [(0.42, 0.74), (0.58, 0.74)],
        [(0.42, 0.6), (0.58, 0.6)],
    ],
    "phone": [
        [(0.28, 0.1), (0.72, 0.1), (0.72, 0.9), (0.28, 0.9), (0.28, 0.1)],
        Dot(0.5, 0.79, 0.045),
    ],
    "info": [Arc(0.5, 0.5, 0.38), [(0.5, 0.46), (0.5, 0.7)], Dot(0.5, 0.31, 0.05)],
    "bell": [
        [(0.16, 0.7), (0.28, 0.58), (0.28, 0.42)],
        Arc(0.5, 0.42, 0.22, 180, 360),
        [(0.72, 0.42), (0.72, 0.58), (0.84, 0.7), (0.16, 0.7)],
        Dot(0.5, 0.84, 0.07),
    ],
    "lock": [
        [(0.22, 0.46), (0.78, 0.46), (0.78, 0.88), (0.22, 0.88), (0.22, 0.46)],
        Arc(0.5, 0.42, 0.19, 180, 360),
        Dot(0.5, 0.67, 0.06),
    ],
    "sun": [
        Arc(0.5, 0.5, 0.18),
        *_rays(0.32),
    ],
    "sound": [
        [(0.12, 0.38), (0.28, 0.38), (0.5, 0.18), (0.5, 0.82), (0.28, 0.62), (0.12, 0.62)],
        [(0.12, 0.62), (0.12, 0.38)],
        Arc(0.5, 0.5, 0.2, -50, 50),
        Arc(0.5, 0.5, 0.36, -50, 50),
    ],
    "apps": [Dot(x, y, 0.1) for x in (0.2, 0.5, 0.8) for y in (0.2, 0.5, 0.8)],
    "storage": [
        [(0.14, y), (0.86, y), (0.86, y + 0.2), (0.14, y + 0.2), (0.14, y)] for y in (0.2, 0.6)
    ],
    "pin": [Arc(0.5, 0.38, 0.26, 150, 390), [(0.28, 0.51), (0.5, 0.9), (0.72, 0.51)]],
    "heart": [
        Arc(0.32, 0.36, 0.2, 150, 360),
        Arc(0.68, 0.36, 0.2, 180, 390),
        [(0.15, 0.46), (0.5, 0.86), (0.85, 0.46)],
    ],
    "star": [
        [
            (
                0.5 + (0.4 if step % 2 == 0 else 0.17) * math.sin(math.tau * step / 10),
                0.53 - (0.4 if step % 2 == 0 else 0.17) * math.cos(math.tau * step / 10),
            )
            for step in range(11)
        ]
    ],
    "bin": [
        [(0.15, 0.26), (0.85, 0.26)],
        [(0.38, 0.24), (0.38, 0.13), (0.62, 0.13), (0.62, 0.24)],
        [(0.24, 0.28), (0.29, 0.88), (0.71, 0.88), (0.76, 0.28)],
    ],
    "globe": [
        Arc(0.5, 0.5, 0.38),
        [(0.12, 0.5), (0.88, 0.5)],
        [(0.5, 0.12), (0.34, 0.3), (0.34, 0.7), (0.5, 0.88), (0.66, 0.7), (0.66, 0.3), (0.5, 0.12)],
    ],
    "shift": [
        [(0.5, 0.14), (0.14, 0.52), (0.34, 0.52), (0.34, 0.84), (0.66, 0.84), (0.66, 0.52)],
        [(0.66, 0.52), (0.86, 0.52), (0.5, 0.14)],
    ],
    "delete": [
        [(0.08, 0.5), (0.32, 0.22), (0.92, 0.22), (0.92, 0.78), (0.32, 0.78), (0.08, 0.5)],
        [(0.48, 0.38), (0.74, 0.62)],
        [(0.74, 0.38), (0.48, 0.62)],
    ],
    "enter": [
        [(0.84, 0.22), (0.84, 0.56), (0.18, 0.56)],
        [(0.42, 0.32), (0.18, 0.56), (0.42, 0.8)],
    ],
    "smile": [
        Arc(0.5, 0.5, 0.38),
        Dot(0.37, 0.41, 0.05),
        Dot(0.63, 0.41, 0.05),
        Arc(0.5, 0.52, 0.2, 20, 160),
    ],
    "image": [
        [(0.12, 0.16), (0.88, 0.16), (0.88, 0.84), (0.12, 0.84), (0.12, 0.16)],
        [(0.14, 0.76), (0.38, 0.46), (0.58, 0.7), (0.68, 0.58), (0.86, 0.78)],
        Dot(0.67, 0.36, 0.07),
    ],
}

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
