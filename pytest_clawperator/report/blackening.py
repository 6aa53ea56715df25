"""Parts of a screenshot, painted black."""

from __future__ import annotations

import io
from collections.abc import Sequence

from pytest_clawperator.snapshot.bounds import Bounds


def blackened(picture: bytes, places: Sequence[Bounds]) -> bytes:
    """Return a PNG in which these places are black; raise ``ValueError`` if it is unreadable."""
    # Costs more to import than all the rest, so it waits until it is needed.
    from PIL import Image

    try:
        with Image.open(io.BytesIO(picture), formats=["PNG"]) as file:
            image = file.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as exc:
        raise ValueError("the picture cannot be read, so that nothing in it can be hidden") from exc
    for place in places:
        inside = place.intersection(Bounds(0, 0, image.width, image.height))
        if inside is not None:
            image.paste((0, 0, 0), tuple(inside))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
