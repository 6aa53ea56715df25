"""The ``framebuffer:`` service."""

from __future__ import annotations

import asyncio
import io
import struct

from PIL import Image

from tests.doubles.simulator.android_phone import FakeStream, Phone


def test_the_pixels_are_those_of_a_screenshot() -> None:
    """Size, form and every pixel agree with what screencap takes."""
    phone, stream = Phone(), FakeStream()

    async def scenario() -> bytes:
        await phone.device.serve("framebuffer:", stream)
        return await phone.device.camera.png()

    expected = Image.open(io.BytesIO(asyncio.run(scenario())))
    head, pixels = stream.sent[:52], stream.sent[52:]
    version, bits, size, width, height = struct.unpack_from("<5I", head)
    assert (version, bits, size) == (1, 32, len(pixels))
    assert expected.size == (width, height)
    assert expected.convert("RGBA").tobytes() == pixels
