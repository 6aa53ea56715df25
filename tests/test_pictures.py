"""Pictures of a screen are made small, or blackened in places."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pytest_clawperator.pictures import blackened, smaller
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


def test_an_unreadable_picture_is_not_blackened() -> None:
    """A picture that cannot be read cannot be made safe."""
    with pytest.raises(ValueError, match="cannot be read"):
        blackened(picture()[:40], [Bounds(0, 0, 1, 1)])


def png(mode: str, size: tuple[int, int]) -> bytes:
    """Return a picture whose left half is white and whose right half is black."""
    image = Image.new(mode, size)
    image.paste(Image.new(mode, (size[0] // 2, size[1]), "white"))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
@pytest.mark.parametrize(
    ("size", "small"),
    [((1080, 2400), (360, 800)), ((1220, 2712), (360, 800)), ((3200, 1440), (800, 360))],
)
def test_any_screen_becomes_as_wide(
    mode: str, size: tuple[int, int], small: tuple[int, int]
) -> None:
    """The shorter side has 360 pixels, and everything is where it was."""
    content, found, scale = smaller(png(mode, size))

    assert (found, round(size[0] * scale)) == (small, small[0])
    image = Image.open(io.BytesIO(content)).convert("L")
    assert image.size == small
    left, right = (
        image.crop((0, 0, small[0] // 3, 9)),
        image.crop((small[0] * 2 // 3, 0, small[0], 9)),
    )
    assert min(left.tobytes()) > 247
    assert max(right.tobytes()) < 8


def test_a_small_screen_stays_as_it_is() -> None:
    """Nothing is made larger."""
    _, size, scale = smaller(png("RGB", (240, 320)))

    assert (size, scale) == ((240, 320), 1.0)


def test_an_unreadable_picture_is_not_shrunk() -> None:
    """Half a picture is none."""
    with pytest.raises((ValueError, OSError)):
        smaller(png("RGB", (1080, 2400))[:200])
