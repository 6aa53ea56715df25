"""Pictures of a screen, small enough to be part of a page."""

from __future__ import annotations

import base64
from io import BytesIO

# As large as a page shows them; one that takes no more than this stays as it is.
_BOX = (800, 960)

_SMALL = 40_000

_QUALITY = 78

# No screen has more; a small file can claim any size, and would take that much memory.
_MOST_PIXELS = 50_000_000

_KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"RIFF": "image/webp",
}


def picture_uri(content: bytes) -> str | None:
    """Return a picture as a data URI, made smaller if it is large; None if it is none."""
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)
    if kind is None:
        return None
    if len(content) > _SMALL:
        smaller = _shrunk(content)
        if smaller is None:
            return None
        kind, content = "image/webp", smaller
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _shrunk(content: bytes) -> bytes | None:
    # Costs more to import than all the rest, so it waits until it is needed.
    from PIL import Image

    small = BytesIO()
    try:
        with Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP")) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                return None
            picture.thumbnail(_BOX)
            picture.convert("RGB").save(small, "WEBP", quality=_QUALITY, method=4)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return small.getvalue()
