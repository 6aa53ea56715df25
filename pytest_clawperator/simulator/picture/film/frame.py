"""Frames of a film: pictures of the screen as JPEG, fitted into the film's size."""

from __future__ import annotations

import io

from PIL import Image

_QUALITY = 75


def encode_frame(image: Image.Image, size: tuple[int, int]) -> bytes:
    """Encode a picture as JPEG of a size; where its shape does not fit, the rest stays black."""
    buffer = io.BytesIO()
    _fitted(image, size).save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


def black_frame(size: tuple[int, int]) -> bytes:
    """Return the frame of a screen that is off."""
    return encode_frame(Image.new("RGB", size), size)


def _fitted(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    if image.size == size:
        return image
    scale = min(size[0] / image.width, size[1] / image.height)
    inner = (max(1, int(image.width * scale + 0.5)), max(1, int(image.height * scale + 0.5)))
    factor = image.width // inner[0]
    if (inner[0] * factor, inner[1] * factor) == image.size:
        shrunk = image.reduce(factor)  # a third of the time of resizing
    else:
        shrunk = image.resize(inner, Image.Resampling.BILINEAR, reducing_gap=2.0)
    if inner == size:
        return shrunk
    frame = Image.new("RGB", size)
    frame.paste(shrunk, ((size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2))
    return frame
