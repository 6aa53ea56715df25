"""Reading, writing and drawing the pictures of goldens."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFilter, UnidentifiedImageError

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.snapshot.tree import Bounds

__tracebackhide__ = True  # a failure is shown at the test's own line

_MASK_COLOUR = (255, 0, 255)
_DIFFERENCE_COLOUR = (220, 0, 0)
_GAP = 16


def to_png(image: Image.Image) -> bytes:
    """Return a picture as PNG."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def open_png(content: bytes, name: str) -> Image.Image:
    """Read a PNG; ``name`` is what an error calls it."""
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as file:
            image: Image.Image = file.convert("RGB")
            return image
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as exc:
        raise ConfigurationError(
            f"{name} is not a readable PNG{_reason(exc)}",
            code=ErrorCode.GOLDEN_UNREADABLE,
            hint=(Remedy(RemedyKind.REPLACE_GOLDEN, "it"), ", or restore it."),
        ) from exc


def is_black(image: Image.Image) -> bool:
    """Whether there is nothing to see but, perhaps, bars at the upper and lower edge."""
    edge = image.height // 10
    middle = image.crop((0, edge, image.width, image.height - edge))
    return middle.convert("L").getextrema() == (0, 0)


def _reason(error: Exception) -> str:
    # Pillow's own text for "no picture at all" names an object in memory.
    return "" if isinstance(error, UnidentifiedImageError) else f": {error}"


def masked(image: Image.Image, hidden: Sequence[Bounds]) -> Image.Image:
    """Return a copy in which these rectangles are painted over."""
    copy = image.copy()
    draw = ImageDraw.Draw(copy)
    for left, top, right, bottom in hidden:
        if left < right and top < bottom:
            draw.rectangle((left, top, right - 1, bottom - 1), fill=_MASK_COLOUR)
    return copy


def highlighted(image: Image.Image, mask: Image.Image) -> Image.Image:
    """Return a faded copy in which the white pixels of a mask stand out, even single ones."""
    white = Image.new("RGB", image.size, "white")
    faded = Image.blend(white, image.convert("L").convert("RGB"), 0.25)
    faded.paste(_DIFFERENCE_COLOUR, mask=mask.filter(ImageFilter.MaxFilter(5)))
    return faded


def side_by_side(images: Sequence[Image.Image]) -> Image.Image:
    """Return one picture with all of these in a row."""
    width = sum(image.width for image in images) + _GAP * (len(images) - 1)
    wide = Image.new("RGB", (width, max(image.height for image in images)), "gray")
    left = 0
    for image in images:
        wide.paste(image, (left, 0))
        left += image.width + _GAP
    return wide
