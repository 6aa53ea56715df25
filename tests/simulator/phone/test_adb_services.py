"""What adbd answers by itself."""

from __future__ import annotations

import asyncio
import struct

import pytest

from tests.doubles.simulator.android_phone import (
    DEADLINE,
    FakeStream,
    Phone,
)


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
    """A head tells the size and where the colours are; the pixels follow it."""
    sent = served(Phone(size=(360, 800), density=160), "framebuffer:")

    version, bits, _, size, width, height = struct.unpack_from("<6I", sent)
    assert (version, bits, width, height) == (2, 32, 360, 800)
    assert len(sent) - 14 * 4 == size == 360 * 800 * 4
    assert set(sent[14 * 4 + 3 :: 4]) == {255}
