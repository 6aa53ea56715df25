"""Pictures as PNG."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pytest_clawperator.simulator.picture.png import PngEncoder, beginning


def test_encoding_keeps_every_pixel() -> None:
    """The fast encoder writes what Pillow reads back."""
    image = Image.effect_noise((61, 37), 80).convert("RGB")

    assert Image.open(io.BytesIO(PngEncoder().encode(image))).tobytes() == image.tobytes()


@pytest.mark.parametrize("size", [(40, 1), (40, 64), (40, 200), (300, 129)])
def test_what_came_before_does_not_show(size: tuple[int, int]) -> None:
    """A picture that is like the last one in part gives the bytes that it gives alone."""
    encoder = PngEncoder()
    first = Image.effect_noise((40, 200), 80).convert("RGB")
    encoder.encode(first)
    image = Image.new("RGB", size)
    image.paste(first)
    image.putpixel((size[0] // 2, size[1] // 2), (1, 2, 3))

    encoded = encoder.encode(image)

    assert encoded == PngEncoder().encode(image)
    assert Image.open(io.BytesIO(encoded)).tobytes() == image.tobytes()


def test_the_beginning_is_that_of_every_picture_of_a_size() -> None:
    """What a picture begins with is known before it is drawn."""
    noise = Image.effect_noise((61, 37), 80).convert("RGB")

    assert PngEncoder().encode(noise).startswith(beginning((61, 37)))
    assert PngEncoder().encode(Image.new("RGB", (61, 37))).startswith(beginning((61, 37)))
