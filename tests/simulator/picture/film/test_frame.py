"""Frames of films: pictures of any shape in a frame of one size."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pytest_clawperator.simulator.picture.film import black_frame, encode_frame


def opened(frame: bytes) -> Image.Image:
    """Read a frame back."""
    image = Image.open(io.BytesIO(frame))
    assert image.format == "JPEG"
    return image


def light_at(image: Image.Image, x: int, y: int) -> bool:
    """Whether a point is white rather than black."""
    value = image.convert("L").getpixel((x, y))
    assert isinstance(value, int)
    return value > 127


@pytest.mark.parametrize("size", [(40, 80), (80, 160), (30, 60), (31, 62), (160, 320)])
def test_a_picture_of_the_frames_shape_fills_it(size: tuple[int, int]) -> None:
    """A picture of the frame's shape fills it, smaller or larger."""
    image = opened(encode_frame(Image.new("RGB", (80, 160), "white"), size))

    assert image.size == size
    assert light_at(image, 1, 1)
    assert light_at(image, size[0] - 2, size[1] - 2)


def test_a_picture_of_another_shape_lies_in_the_middle() -> None:
    """A picture of another shape lies in the middle, with black around it."""
    image = opened(encode_frame(Image.new("RGB", (160, 80), "white"), (80, 160)))

    assert image.size == (80, 160)
    assert [light_at(image, 40, y) for y in (10, 80, 150)] == [False, True, False]


def test_the_frame_of_a_screen_that_is_off_is_black() -> None:
    """Every pixel is black."""
    image = opened(black_frame((40, 80)))

    assert (image.size, light_at(image, 20, 40)) == ((40, 80), False)
