"""``screencap`` and ``screenrecord``."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable

import pytest

from pytest_clawperator.simulator.shell.runner import run_script
from pytest_clawperator.simulator.shell.service import serve_shell
from tests.doubles.simulator.android_phone import (
    DEADLINE,
    Collected,
    Ended,
    FakeStream,
    Phone,
    Pieces,
)
from tests.doubles.simulator.films import is_whole, shown

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


FILE = "/sdcard/a.mp4"


@pytest.fixture
def phone() -> Phone:
    """Return a phone that records nothing yet."""
    return Phone(size=(200, 400), density=100)


def film_on(phone: Phone) -> bytes:
    """Return the film as it is on the phone now."""
    return phone.device.files.read(FILE)


async def started(phone: Phone) -> None:
    """Wait until a film has begun."""
    while not phone.device.files.exists(FILE):
        await asyncio.sleep(0)
    assert not is_whole(film_on(phone))


def record(phone: Phone, script: str, meanwhile: Callable[[], Awaitable[object]]) -> Ended:
    """Run a script, do something once its recording has begun, and wait for its end."""

    async def act() -> Ended:
        recording = asyncio.ensure_future(phone.shell(script))
        await asyncio.wait_for(started(phone), DEADLINE)
        await meanwhile()
        return await recording

    return asyncio.run(act())


def test_it_ends_at_the_time_limit(phone: Phone) -> None:
    """It ends by itself when its time is up, and the film is that long."""
    assert phone.out(f"screenrecord --bit-rate 4000000 --time-limit 1 {FILE}") == ""

    assert sum(shown(film_on(phone)).durations) >= 1000


@pytest.mark.parametrize("signal", ["-INT", "-2", "-SIGHUP"])
def test_an_interrupt_finishes_the_film(phone: Phone, signal: str) -> None:
    """An interrupt or a hangup ends it, and the film is whole."""
    kill = f"kill {signal} $(pidof screenrecord)"

    ended = record(phone, f"screenrecord {FILE}", lambda: phone.shell(kill))

    assert ended == (0, "", "")
    assert is_whole(film_on(phone))
    assert phone.run("pidof screenrecord") == (1, "", "")


def test_a_script_can_interrupt_it_by_its_pid(phone: Phone) -> None:
    """A shell that becomes the program gives it its own number."""
    script = f"exec sh -c 'echo $$ > /sdcard/pid; exec screenrecord {FILE}'"
    kill = "kill -0 $(cat /sdcard/pid) && kill -INT $(cat /sdcard/pid)"

    ended = record(phone, script, lambda: phone.shell(kill))

    assert ended == (0, "", "")
    assert is_whole(film_on(phone))


@pytest.mark.parametrize(
    ("signals", "status"),
    [("-9", 137), ("-TERM", 143), ("", 143), ("-INT $(cat /sdcard/pid); kill -INT", 130)],
)
def test_a_kill_leaves_an_unfinished_film(phone: Phone, signals: str, status: int) -> None:
    """Any other signal, or a second interrupt, leaves a film that cannot be played."""
    kill = f"pidof screenrecord > /sdcard/pid; kill {signals} $(cat /sdcard/pid)"

    ended = record(phone, f"screenrecord {FILE}; echo $?", lambda: phone.shell(kill))

    assert ended == (0, f"{status}\n", "")
    assert not is_whole(film_on(phone))


def test_the_host_goes_away(phone: Phone) -> None:
    """When the stream closes, the film is finished and no process stays."""

    async def scenario() -> Ended:
        service = f"shell,v2,raw:exec screenrecord {FILE}"
        serving = asyncio.ensure_future(serve_shell(service, FakeStream(), phone.device.make_shell))
        await asyncio.wait_for(started(phone), DEADLINE)
        serving.cancel()
        await asyncio.wait([serving], timeout=DEADLINE)
        return await phone.shell("pidof screenrecord")

    assert asyncio.run(scenario()) == (1, "", "")
    assert is_whole(film_on(phone))


def test_a_full_phone_is_reported_at_the_end(phone: Phone) -> None:
    """A phone that is full when the film is to be written says so."""

    async def fill() -> None:
        phone.device.faults.set("storage_full")
        await phone.shell("kill -INT $(pidof screenrecord)")

    ended = record(phone, f"screenrecord {FILE}", fill)

    assert ended == (1, "", f"Unable to open '{FILE}': No space left on device\n")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("", 2, "Must specify output file (see --help).\n"),
        (f"--time-limit 0 {FILE}", 2, "Time limit 0s outside acceptable range [1,180]\n"),
        (f"--time-limit=181 {FILE}", 2, "Time limit 181s outside acceptable range [1,180]\n"),
        ("--time-limit", 2, "screenrecord: option requires an argument -- time-limit\n"),
        (f"--wings {FILE}", 2, "screenrecord: unknown option -- wings\n"),
        ("/nowhere/a.mp4", 1, "Unable to open '/nowhere/a.mp4': No such file or directory\n"),
    ],
)
def test_wrong_arguments_are_refused(
    phone: Phone, arguments: str, status: int, message: str
) -> None:
    """The message is that of the real program."""
    assert phone.run(f"screenrecord {arguments}") == (status, "", message)
