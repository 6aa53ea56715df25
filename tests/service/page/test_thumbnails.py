"""Small pictures of screens."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pytest_clawperator.errors import TransportError
from pytest_clawperator.service.page.thumbnails import thumbnail
from tests.doubles.shown_rack import painted


def test_a_picture_is_made_small_and_keeps_its_shape() -> None:
    """A narrow one is not made larger."""
    sizes = []
    for width in (90, 2000):
        with Image.open(io.BytesIO(thumbnail(painted(1), width=width))) as image:
            sizes.append((image.format, image.size))

    assert sizes == [("JPEG", (90, 200)), ("JPEG", (360, 800))]


@pytest.mark.parametrize("broken", [b"", b"\x89PNG\r\n\x1a\n", painted(1)[:200]])
def test_what_is_no_picture_is_named(broken: bytes) -> None:
    """A device may send anything."""
    with pytest.raises(TransportError, match="cannot be read"):
        thumbnail(broken, width=100)
