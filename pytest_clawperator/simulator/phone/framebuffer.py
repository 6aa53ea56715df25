"""The ``framebuffer:`` service: one picture of the screen, as plain pixels."""

from __future__ import annotations

import asyncio
import struct
import zlib

from pytest_clawperator.simulator.phone.camera import Camera
from pytest_clawperator.simulator.wire.stream import Stream

_VERSION = 1
_BITS = 32
_BYTE = 8
_PIECE = 256 * 1024
_SIZE_AT = 16
_DATA_AT = 41


async def serve_framebuffer(stream: Stream, camera: Camera) -> None:
    """Send the picture's form and its pixels: red, green, blue, alpha."""
    (width, height), pixels = await asyncio.to_thread(_pixels, await camera.png())
    channels = [number for shift in (0, 16, 8, 24) for number in (shift, _BYTE)]
    # Channels come as red, blue, green, alpha: each with its offset and its length.
    head = struct.pack("<13I", _VERSION, _BITS, len(pixels), width, height, *channels)
    await stream.write(head)
    for start in range(0, len(pixels), _PIECE):
        await stream.write(pixels[start : start + _PIECE])


def _pixels(png: bytes) -> tuple[tuple[int, int], bytes]:
    """Return the size and the pixels of a picture that the camera took.

    Such a picture has one piece of data, behind a head of always the same length, and rows of
    red, green and blue that are not filtered.
    """
    width, height, length = struct.unpack_from(">II9xI", png, _SIZE_AT)
    data = zlib.decompress(png[_DATA_AT : _DATA_AT + length])
    row = 3 * width + 1
    colours = b"".join(data[at + 1 : at + row] for at in range(0, row * height, row))
    pixels = bytearray(b"\xff") * (4 * width * height)
    for channel in range(3):
        pixels[channel::4] = colours[channel::3]
    return (width, height), bytes(pixels)
