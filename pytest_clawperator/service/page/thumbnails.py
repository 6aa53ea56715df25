"""Small pictures of screens: forty of them should not fill the network."""

from __future__ import annotations

import io

from PIL import Image

from pytest_clawperator.errors import TransportError

NARROWEST, WIDEST = 32, 2000
_QUALITY = 80


def thumbnail(picture: bytes, *, width: int) -> bytes:
    """Return a picture as JPEG of at most this width; raise if it is none."""
    try:
        return _shrunk(picture, width)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise TransportError(
            f"the picture of the screen cannot be read: {error}",
            hint="Try `adb exec-out screencap -p > screen.png`, and look at that.",
        ) from error


def _shrunk(picture: bytes, width: int) -> bytes:
    with Image.open(io.BytesIO(picture)) as image:
        height = max(round(image.height * width / image.width), 1)
        small = image.convert("RGB")
        if width < image.width:
            small = small.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0)
    written = io.BytesIO()
    small.save(written, "JPEG", quality=_QUALITY)
    return written.getvalue()
