"""Screenshots made small."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pytest_clawperator.report.small_picture import smaller


def png(mode: str, size: tuple[int, int]) -> bytes:
    """Return a picture whose left half is white and whose right half is black."""
    image = Image.new(mode, size)
    image.paste(Image.new(mode, (size[0] // 2, size[1]), "white"))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
@pytest.mark.parametrize(
    ("size", "small"),
    [((1080, 2400), (360, 800)), ((1220, 2712), (360, 800)), ((3200, 1440), (800, 360))],
)
def test_any_screen_becomes_as_wide(
    mode: str, size: tuple[int, int], small: tuple[int, int]
) -> None:
    """The shorter side has 360 pixels, and everything is where it was."""
    content, found, scale = smaller(png(mode, size))

    assert (found, round(size[0] * scale)) == (small, small[0])
    image = Image.open(io.BytesIO(content)).convert("L")
    assert image.size == small
    left, right = (
        image.crop((0, 0, small[0] // 3, 9)),
        image.crop((small[0] * 2 // 3, 0, small[0], 9)),
    )
    assert min(left.tobytes()) > 247
    assert max(right.tobytes()) < 8


def test_a_small_screen_stays_as_it_is() -> None:
    """Nothing is made larger."""
    _, size, scale = smaller(png("RGB", (240, 320)))

    assert (size, scale) == ((240, 320), 1.0)


def test_what_is_no_picture_is_refused() -> None:
    """Half a picture is none."""
    with pytest.raises((ValueError, OSError)):
        smaller(png("RGB", (1080, 2400))[:200])
