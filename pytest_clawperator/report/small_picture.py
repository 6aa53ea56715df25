"""A screenshot made small, for pages that show many."""

from __future__ import annotations

import io

_WIDTH = 360
_QUALITY = 60
# Of 0 to 6, the quickest; the next ones make it smaller by some kilobytes.
_METHOD = 0


def smaller(picture: bytes) -> tuple[bytes, tuple[int, int], float]:
    """Return a PNG as a small WebP, its size, and how much smaller it is.

    Raise ``ValueError`` or ``OSError`` if it is unreadable.
    """
    # Costs more to import than all the rest, so it waits until it is needed.
    from PIL import Image

    try:
        with Image.open(io.BytesIO(picture), formats=["PNG"]) as file:
            scale = min(1.0, _WIDTH / min(file.size))
            size = (round(file.width * scale), round(file.height * scale))
            whole = file if file.mode == "RGB" else file.convert("RGB")
            # Most of the way in whole steps, which is quick: screens are 360 dp wide or more.
            image = whole.resize(size, Image.Resampling.BOX, reducing_gap=1.0)
    except (SyntaxError, Image.DecompressionBombError) as exc:
        raise ValueError("the picture cannot be read") from exc
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=_QUALITY, method=_METHOD)
    return buffer.getvalue(), size, scale
