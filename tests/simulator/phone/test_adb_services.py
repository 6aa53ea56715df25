"""What adbd answers by itself."""

from __future__ import annotations

import asyncio
import io
import struct

import pytest
from PIL import Image

from tests.doubles.simulator.android_phone import DEADLINE, FakeStream, Phone


def served(phone: Phone, destination: str, incoming: list[bytes] | None = None) -> bytes:
    """Open a service and give all that it sends."""
    stream = FakeStream(incoming=incoming or [])
    asyncio.run(asyncio.wait_for(phone.device.serve(destination, stream), DEADLINE))
    return stream.sent


class TestServices:
    """Destinations with a fixed answer."""

    @pytest.mark.parametrize(
        ("destination", "answer"),
        [
            ("root:", b"adbd cannot run as root in production builds\n"),
            ("unroot:", b"adbd not running as root\n"),
            ("remount:", b'Not running as root. Try "adb root" first.\n'),
        ],
    )
    def test_adbds_own_answers_are_those_of_a_user_build(
        self, destination: str, answer: bytes
    ) -> None:
        """What a phone in production says, it says."""
        assert served(Phone(), destination) == answer


def test_the_framebuffer_has_every_pixel_of_the_screen() -> None:
    """A head tells the size and where the colours are; the pixels are those of a screenshot."""
    phone, stream = Phone(size=(360, 800), density=160), FakeStream()

    async def scenario() -> bytes:
        await asyncio.wait_for(phone.device.serve("framebuffer:", stream), DEADLINE)
        return await phone.device.camera.png()

    expected = Image.open(io.BytesIO(asyncio.run(scenario())))
    version, bits, _, size, width, height = struct.unpack_from("<6I", stream.sent)
    assert (version, bits, width, height) == (2, 32, *expected.size)
    assert stream.sent[-size:] == expected.convert("RGBA").tobytes()
