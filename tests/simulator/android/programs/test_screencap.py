"""``wm``, ``screencap`` and ``uiautomator``."""

from __future__ import annotations

import asyncio
import struct

import pytest

from pytest_clawperator.simulator.shell.runner import run_script
from tests.doubles.simulator.android_phone import Collected, Phone, Pieces

SETTINGS = "com.android.settings"

PNG = b"\x89PNG\r\n\x1a\n"


def picture(phone: Phone, command: str = "screencap -p") -> bytes:
    """Take a picture through the shell."""

    async def take() -> bytes:
        out, err = Collected(), Collected()
        await run_script(phone.device.make_shell(), command, Pieces([b""]), out, err)
        assert err.data == b""
        return out.data

    return asyncio.run(take())


def size_of(png: bytes) -> tuple[int, int]:
    """Read a picture's size."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height


class TestScreencap:
    """Pictures."""

    def test_to_the_host(self) -> None:
        """The picture is a PNG of the screen's size."""
        phone = Phone(size=(360, 800), density=160)

        png = picture(phone)

        assert png.startswith(PNG)
        assert size_of(png) == (360, 800)
        assert phone.device.stats.screenshots == 1

    def test_the_beginning_is_printed_before_the_picture_is_drawn(self) -> None:
        """As on a phone, the first bytes tell that the screen was captured."""
        phone = Phone(size=(360, 800), density=160)
        taken: list[bool] = []

        class Reader(Collected):
            async def write(self, data: bytes) -> None:
                taken.append(phone.device.camera.png_beginning() == data)
                await super().write(data)

        async def take() -> bytes:
            out = Reader()
            await run_script(
                phone.device.make_shell(), "screencap -p", Pieces([b""]), out, Collected()
            )
            return out.data

        assert asyncio.run(take()) == picture(phone)
        assert taken == [True, False]

    @pytest.mark.parametrize("display", ["0", "9999", "x"])
    def test_of_no_display_that_there_is(self, display: str) -> None:
        """The number of a logical display is not the id of a panel."""
        done = Phone().run(f"screencap -d {display} -p")

        assert (done.status, done.out) == (1, "")
        assert done.err == "Failed to take screenshot. Status: -2\nCapturing failed.\n"

    def test_to_a_file(self) -> None:
        """The picture can be written to a file, which its name makes a PNG too."""
        phone = Phone(size=(360, 800), density=160)

        phone.out("screencap -p /sdcard/a.png; screencap /sdcard/b.png")

        files = phone.device.files
        assert files.read("/sdcard/a.png") == files.read("/sdcard/b.png")
        assert files.read("/sdcard/a.png").startswith(PNG)

    def test_of_all_displays(self) -> None:
        """Each display has a file with its number; those that are off are dark."""
        one = Phone(size=(360, 800), density=160)
        two = Phone(size=(360, 800), density=160, quirks=frozenset({"two-displays"}))

        for phone in (one, two):
            phone.out("screencap -p -a /sdcard/all.png")

        assert one.out("ls /sdcard/*.png") == "/sdcard/all_0.png\n"
        assert two.out("ls /sdcard/*.png") == "/sdcard/all_0.png\n/sdcard/all_1.png\n"
        assert len(two.device.files.read("/sdcard/all_0.png")) < len(
            two.device.files.read("/sdcard/all_1.png")
        )

    def test_of_all_displays_needs_a_file(self) -> None:
        """Several pictures do not fit on one output."""
        assert Phone().run("screencap -a").status == 1

    def test_an_unchanged_screen_gives_the_same_picture(self) -> None:
        """An unchanged screen gives the same picture, another screen another one."""
        phone = Phone(size=(360, 800), density=160)
        first, second = picture(phone), picture(phone)

        phone.out(f"am start -n {SETTINGS}/.Settings")

        assert first == second
        assert picture(phone) != first

    def test_a_screen_that_is_off_is_black(self) -> None:
        """A screen that is off is black."""
        phone = Phone(size=(360, 800), density=160)

        awake = picture(phone)
        phone.out("input keyevent SLEEP")

        asleep = picture(phone)
        assert size_of(asleep) == (360, 800)
        assert len(asleep) < len(awake)

    @pytest.mark.parametrize("target", ["", " /sdcard/a.png"])
    def test_a_full_phone_takes_no_picture(self, target: str) -> None:
        """A full phone takes no picture."""
        phone = Phone()
        phone.device.faults.set("storage_full")

        ended = phone.run(f"screencap -p{target}")

        assert (ended.status, ended.out) == (1, "")
        assert "No space left on device" in ended.err

    def test_no_such_folder(self) -> None:
        """A file that cannot be written is named."""
        ended = Phone(size=(360, 800)).run("screencap -p /nowhere/a.png")

        assert ended == (
            1,
            "",
            "Error opening file: /nowhere/a.png (No such file or directory)\n",
        )

    def test_raw_pixels_are_refused(self) -> None:
        """Raw pixels are not offered, and it says what is."""
        ended = Phone().run("screencap")

        assert ended.status == 1
        assert "give -p for a PNG" in ended.err
