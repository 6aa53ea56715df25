"""Which pixels of two pictures differ; the only place that knows pixelmatch.

pixelmatch tells smoothed edges from real differences, but takes some 20 microseconds for each
pixel. So Pillow finds the tiles in which anything differs, and only those are given to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from PIL import Image, ImageChops
from pixelmatch.contrib.PIL import pixelmatch

from pytest_clawperator.snapshot.tree import Bounds

# pixelmatch looks at the neighbours of a pixel and at their neighbours.
_TILE, _MARGIN = 8, 2
_MOST_TILES = 2_000
# For the picture of the differences, smoothed edges matter less.
_EXPLAINED_TILES = 200
# A pixel whose channels differ by less than this times the threshold is within it.
_SURELY_WITHIN = 175


@dataclass(frozen=True)
class Comparison:
    """Where two pictures differ: white pixels of ``mask``.

    ``is_rough`` means that smoothed edges may be among them.
    """

    mask: Image.Image
    is_rough: bool = False

    @cached_property
    def pixels(self) -> int:
        """How many pixels differ."""
        return int(self.mask.histogram()[255])

    def __str__(self) -> str:
        if not self.pixels:
            return "no difference"
        share = self.pixels / (self.mask.width * self.mask.height)
        noun = "pixel" if self.pixels == 1 else "pixels"
        where = Bounds(*(self.mask.getbbox() or (0, 0, 0, 0)))
        some = "up to " if self.is_rough else ""
        return f"{some}{self.pixels} {noun} that differ ({share:.2%}) in {where}"


def compare(
    golden: Image.Image, actual: Image.Image, *, threshold: float, enough: int | None = None
) -> Comparison:
    """Find the pixels that differ by more than the threshold and are no smoothed edges.

    With ``enough`` the comparison stops as soon as more pixels were found. Without it, all
    are marked; if they are many, smoothed edges are marked too.
    """
    candidates = _candidates(golden, actual, threshold)
    tiles = list(_tiles(candidates))
    if len(tiles) > _MOST_TILES:  # so much cannot be only edges
        return Comparison(candidates, is_rough=True)
    mask = Image.new("L", golden.size)
    found = 0
    closely = len(tiles) if enough is not None else _EXPLAINED_TILES
    for tile in tiles[closely:]:
        mask.paste(candidates.crop(tile), tile[:2])
    for tile in tiles[:closely]:
        part = _differing(golden, actual, tile, threshold)
        mask.paste(part, tile[:2])
        found += part.histogram()[255]
        if enough is not None and found > enough:
            break
    return Comparison(mask, is_rough=len(tiles) > closely)


def _candidates(golden: Image.Image, actual: Image.Image, threshold: float) -> Image.Image:
    """Mark the pixels that may differ by more than the threshold."""
    most, *others = ImageChops.difference(golden, actual).split()
    for channel in others:
        most = ImageChops.lighter(most, channel)
    least = int(_SURELY_WITHIN * threshold)
    return most.point([0 if value <= least else 255 for value in range(256)])


def _tiles(candidates: Image.Image) -> Iterator[Bounds]:
    """Yield the tiles in which any pixel is marked."""
    small = candidates.reduce(_TILE)
    for place, value in enumerate(small.tobytes()):
        if value:
            left, top = place % small.width * _TILE, place // small.width * _TILE
            right, bottom = left + _TILE, top + _TILE
            width, height = candidates.size
            yield Bounds(left, top, min(right, width), min(bottom, height))


def _differing(
    golden: Image.Image, actual: Image.Image, tile: Bounds, threshold: float
) -> Image.Image:
    """Mark the pixels of a tile that differ."""
    left, top = max(0, tile.left - _MARGIN), max(0, tile.top - _MARGIN)
    right = min(golden.width, tile.right + _MARGIN)
    bottom = min(golden.height, tile.bottom + _MARGIN)
    around = (left, top, right, bottom)
    output = Image.new("RGBA", (right - left, bottom - top))
    pixelmatch(
        golden.crop(around),
        actual.crop(around),
        output,
        threshold=threshold,
        diff_mask=True,
    )
    inner = (tile.left - left, tile.top - top, tile.right - left, tile.bottom - top)
    return output.getchannel("A").crop(inner)
