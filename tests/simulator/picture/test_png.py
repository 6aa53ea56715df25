"""Encoding pictures."""

from __future__ import annotations

import io

from PIL import Image

from pytest_clawperator.simulator.picture.png import encode_png


def test_encoding_keeps_every_pixel() -> None:
    """The fast encoder writes what Pillow reads back."""
    image = Image.effect_noise((61, 37), 80).convert("RGB")

    assert Image.open(io.BytesIO(encode_png(image))).tobytes() == image.tobytes()
