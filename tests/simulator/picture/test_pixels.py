"""Pixels of our own pictures."""

from __future__ import annotations

from PIL import Image

from pytest_clawperator.simulator.picture.png import encode_png, rgba_pixels


def test_pixels_are_those_that_were_encoded() -> None:
    """Every pixel comes back, opaque."""
    image = Image.new("RGB", (5, 3))
    image.putdata([(n, 2 * n, 255 - n) for n in range(15)])

    assert rgba_pixels(encode_png(image)) == (5, 3, image.convert("RGBA").tobytes())
