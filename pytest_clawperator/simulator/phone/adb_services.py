"""What adbd answers by itself, on a phone whose build is for users and not for developers."""

from __future__ import annotations

import asyncio
import struct

from pytest_clawperator.simulator.phone.camera import Camera
from pytest_clawperator.simulator.picture.png import rgba_pixels
from pytest_clawperator.simulator.wire.stream import Stream

REPLIES = {
    "root:": "adbd cannot run as root in production builds\n",
    "unroot:": "adbd not running as root\n",
    "remount:": 'Not running as root. Try "adb root" first.\n',
    "disable-verity:": "verity cannot be disabled/enabled - USER build\n",
    "enable-verity:": "verity cannot be disabled/enabled - USER build\n",
}
"""Destinations that always get the same answer."""

# Version 2 of the picture's head: bits of a pixel, colours as in sRGB, bytes, width and height,
# then where each colour begins in a pixel and how many bits it has: red, blue, green, opaqueness.
_HEAD = struct.Struct("<14I")
_COLOURS = (0, 8, 16, 8, 8, 8, 24, 8)


async def serve_framebuffer(stream: Stream, camera: Camera) -> None:
    """Answer ``framebuffer:`` with the pixels of the screen."""
    width, height, pixels = await asyncio.to_thread(rgba_pixels, await camera.png())
    await stream.write(_HEAD.pack(2, 32, 1, len(pixels), width, height, *_COLOURS) + pixels)
