"""Pictures of a screen: made small enough for pages, or with secrets blackened.

Pillow is imported at the first use: it costs more than all the rest of the package.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_clawperator.errors import TransportError

if TYPE_CHECKING:
    from PIL.Image import Image

THUMBNAIL_TYPE = "image/jpeg"

# No screen has more; a small file can claim any size, and would take that much memory.
_MOST_PIXELS = 50_000_000
# PIL.Image.Resampling.BOX, the quickest.
_BOX_FILTER = 4

# A picture of a trace: screens are 360 dp wide or more.
_TRACE_WIDTH = 360
_TRACE_QUALITY = 60
# Of 0 to 6, the quickest; the next ones make it smaller by some kilobytes.
_TRACE_METHOD = 0

# A picture inside a page, as large as the page shows it; a small file stays as it is.
_PAGE_BOX = (800, 960)
_PAGE_QUALITY = 78
_SMALL_ENOUGH = 40_000
_KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"RIFF": "image/webp",
}

# A phone is upright, and shown a few centimetres high; some displays have two dots for each.
_THUMBNAIL_BOX = (640, 640)
_THUMBNAIL_QUALITY = 82


def blackened(picture: bytes, places: Sequence[tuple[int, int, int, int]]) -> bytes:
    """Return a PNG with these places (left, top, right, bottom) painted black.

    Raise ``ValueError`` if the picture is unreadable, because nothing in it can be hidden then.
    """
    with _opened(picture, "PNG") as file:
        image = file.convert("RGB")
    for left, top, right, bottom in places:
        inside = (max(left, 0), max(top, 0), min(right, image.width), min(bottom, image.height))
        if inside[0] < inside[2] and inside[1] < inside[3]:
            image.paste((0, 0, 0), inside)
    return _saved(image, "PNG")


def smaller(picture: bytes) -> tuple[bytes, tuple[int, int], float]:
    """Return a PNG as a small WebP, its size and the scale; raise ``ValueError`` if unreadable."""
    with _opened(picture, "PNG") as file:
        scale = min(1.0, _TRACE_WIDTH / min(file.size))
        size = (round(file.width * scale), round(file.height * scale))
        whole = file if file.mode == "RGB" else file.convert("RGB")
        # Most of the way in whole steps, which is quick.
        image = whole.resize(size, _BOX_FILTER, reducing_gap=1.0)
    return _saved(image, "WEBP", quality=_TRACE_QUALITY, method=_TRACE_METHOD), size, scale


def picture_uri(content: bytes) -> str | None:
    """Return a picture as a data URI, shrunk if it is large; None if it is not a picture."""
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)
    if kind is None:
        return None
    if len(content) > _SMALL_ENOUGH:
        try:
            with _opened(content, "PNG", "JPEG", "WEBP") as picture:
                picture.thumbnail(_PAGE_BOX)
                image = picture.convert("RGB")
        except ValueError:
            return None
        kind, content = "image/webp", _saved(image, "WEBP", quality=_PAGE_QUALITY, method=4)
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def thumbnail(png: bytes, *, serial: str) -> bytes:
    """Return a device's screenshot as a small JPEG; raise ``TransportError`` if unreadable."""
    try:
        with _opened(png, "PNG") as picture:
            picture.thumbnail(_THUMBNAIL_BOX)
            return _saved(picture.convert("RGB"), "JPEG", quality=_THUMBNAIL_QUALITY)
    except ValueError as error:
        raise TransportError(f"the screenshot is unreadable: {error}", serial=serial) from error


@contextmanager
def _opened(content: bytes, *formats: str) -> Iterator[Image]:
    """Open a picture; raise ``ValueError`` if it cannot be read, now or in the block."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=formats) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise ValueError(f"it claims to have {picture.width} x {picture.height} pixels")
            yield picture
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"the picture cannot be read: {error}") from error


def _saved(image: Image, kind: str, **options: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()
