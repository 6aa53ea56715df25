"""Pictures of a screen are made small, or blackened in places."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pytest_clawperator.errors import TransportError
from pytest_clawperator.pictures import blackened, smaller, thumbnail
from pytest_clawperator.snapshot.tree import Bounds


def picture(mode: str = "RGB", size: tuple[int, int] = (20, 10), *, white: int = 999) -> bytes:
    """Make a picture that is white up to a column, and black after it."""
    image = Image.new(mode, size, "white")
    if white < size[0]:
        image.paste(Image.new(mode, (size[0] - white, size[1])), (white, 0))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def dark_pixels(png: bytes) -> set[tuple[int, int]]:
    """Return the places of black pixels."""
    with Image.open(io.BytesIO(png)) as file:
        image = file.convert("RGB")
    places = ((x, y) for x in range(image.width) for y in range(image.height))
    return {place for place in places if image.getpixel(place) == (0, 0, 0)}


def test_only_these_places_are_black() -> None:
    """Right and bottom are just outside, in any kind of picture; beyond the edge is nothing."""
    for mode in ("RGB", "RGBA", "P", "L", "1"):
        black = dark_pixels(blackened(picture(mode), [Bounds(2, 3, 5, 4)]))
        assert black == {(2, 3), (3, 3), (4, 3)}, mode
    places = [Bounds(18, 8, 99, 99), Bounds(-9, -9, 1, 1), Bounds(50, 50, 60, 60)]

    black = dark_pixels(blackened(picture(), places))

    assert black == {(18, 8), (19, 8), (18, 9), (19, 9), (0, 0)}


def test_an_unreadable_picture_is_refused() -> None:
    """Half a picture, other bytes, or one that claims too many pixels cannot be made safe."""
    huge = bytearray(picture())
    huge[16:24] = (10**5).to_bytes(4, "big") * 2
    for broken in (picture()[:40], b"", b"not a picture", bytes(huge)):
        with pytest.raises(ValueError, match="the picture cannot be read"):
            blackened(broken, [])
        with pytest.raises(ValueError, match="the picture cannot be read"):
            smaller(broken)
        with pytest.raises(TransportError, match="the screenshot is unreadable"):
            thumbnail(broken, serial="PH1")


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
@pytest.mark.parametrize(
    ("size", "small"),
    [
        ((1080, 2400), (360, 800)),
        ((1220, 2712), (360, 800)),
        ((3200, 1440), (800, 360)),
        ((240, 320), (240, 320)),
    ],
)
def test_the_shorter_side_of_a_screen_is_shrunk(
    mode: str, size: tuple[int, int], small: tuple[int, int]
) -> None:
    """It has 360 pixels or fewer, and everything is where it was."""
    content, found, scale = smaller(picture(mode, size, white=size[0] // 2))

    assert (found, round(size[0] * scale)) == (small, small[0])
    image = Image.open(io.BytesIO(content)).convert("L")
    assert image.size == small
    third = small[0] // 3
    assert min(image.crop((0, 0, third, 9)).tobytes()) > 247
    assert max(image.crop((small[0] - third, 0, small[0], 9)).tobytes()) < 8


def test_a_thumbnail_is_a_small_jpeg() -> None:
    """It fits into a box, and is not larger than the screen."""
    for size, small in (((1080, 2400), (288, 640)), ((240, 320), (240, 320))):
        with Image.open(io.BytesIO(thumbnail(picture("RGB", size), serial="PH1"))) as image:
            assert (image.format, image.size) == ("JPEG", small)
