"""Makes the picture of a screen small enough for a page with many of them."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from pytest_clawperator.errors import TransportError

MEDIA_TYPE = "image/jpeg"

# A phone is upright, and shown a few centimetres high; some displays have two dots for each.
_BOX = (640, 640)

_QUALITY = 82

# No screen has more; a small file can claim any size, and would take that much memory.
_MOST_PIXELS = 50_000_000


def shrink(png: bytes, *, serial: str) -> bytes:
    """Return a PNG as a small JPEG; raise if it is no picture."""
    try:
        with Image.open(BytesIO(png), formats=("PNG",)) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise ValueError(f"it claims to have {picture.width} x {picture.height} pixels")
            picture.thumbnail(_BOX)
            small = BytesIO()
            picture.convert("RGB").save(small, "JPEG", quality=_QUALITY)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise TransportError(f"the screenshot is unreadable: {error}", serial=serial) from error
    return small.getvalue()
