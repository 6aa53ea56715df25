"""Pictures of the screen."""

from __future__ import annotations

import asyncio

from tests.doubles.simulator.android_phone import (
    DEADLINE,
    Phone,
)

SETTINGS = "com.android.settings"


async def picture_of(phone: Phone) -> bytes:
    """Take a picture of a phone."""
    return await phone.device.camera.png()


class TestScreenshots:
    """Pictures beside the event loop."""

    def test_two_requests_at_once_share_one_picture(self) -> None:
        """Two who ask at the same time get one picture."""
        phone = Phone(size=(360, 800))

        async def both() -> list[bytes]:
            return list(await asyncio.gather(phone.device.camera.png(), phone.device.camera.png()))

        first, second = asyncio.run(both())

        assert first is second

    def test_one_who_leaves(self) -> None:
        """One who gives up does not take the picture away from another."""
        phone = Phone(size=(360, 800))

        async def act() -> bytes:
            leaving = asyncio.ensure_future(phone.device.camera.png())
            staying = asyncio.ensure_future(phone.device.camera.png())
            await asyncio.sleep(0)
            leaving.cancel()
            return await asyncio.wait_for(staying, DEADLINE)

        assert asyncio.run(act()).startswith(b"\x89PNG")

    def test_a_picture_shows_the_screen_of_its_moment(self) -> None:
        """What happens while it is drawn is not on it, and its beginning is known at once."""
        phone = Phone(size=(360, 800))

        async def act() -> tuple[bytes, bytes]:
            drawing = phone.device.camera.png()
            await phone.shell(f"am start -n {SETTINGS}/.Settings")
            return await drawing, await phone.device.camera.png()

        taken, later = asyncio.run(act())

        assert taken == asyncio.run(picture_of(Phone(size=(360, 800)))) != later
        assert taken.startswith(phone.device.camera.png_beginning())
