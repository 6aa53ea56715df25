"""Parts of a picture that are painted black."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pytest_clawperator.report.blackening import blackened
from pytest_clawperator.snapshot.bounds import Bounds


def picture(mode: str = "RGB") -> bytes:
    """Make a white picture of 20 to 10 pixels."""
    buffer = io.BytesIO()
    Image.new(mode, (20, 10), "white").save(buffer, "PNG")
    return buffer.getvalue()


def dark_pixels(png: bytes) -> set[tuple[int, int]]:
    """Return the places of black pixels."""
    with Image.open(io.BytesIO(png)) as file:
        image = file.convert("RGB")
    places = ((x, y) for x in range(image.width) for y in range(image.height))
    return {place for place in places if image.getpixel(place) == (0, 0, 0)}


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L", "1"])
def test_only_these_places_are_black(mode: str) -> None:
    """Right and bottom are just outside, whatever kind of picture it is."""
    black = dark_pixels(blackened(picture(mode), [Bounds(2, 3, 5, 4)]))

    assert black == {(2, 3), (3, 3), (4, 3)}


def test_places_beyond_the_edge_are_cut() -> None:
    """A field that is partly or wholly off the screen spoils nothing."""
    places = [Bounds(18, 8, 99, 99), Bounds(-9, -9, 1, 1), Bounds(50, 50, 60, 60)]

    black = dark_pixels(blackened(picture(), places))

    assert black == {(18, 8), (19, 8), (18, 9), (19, 9), (0, 0)}


def test_what_is_no_picture_is_refused() -> None:
    """A picture that cannot be read cannot be made safe."""
    with pytest.raises(ValueError, match="cannot be read"):
        blackened(picture()[:40], [Bounds(0, 0, 1, 1)])
