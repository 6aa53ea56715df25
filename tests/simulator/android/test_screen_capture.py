"""Pictures of the screen, ``screencap`` and ``screenrecord``."""

from __future__ import annotations

import asyncio
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

START_SETTINGS = "am start -n com.android.settings/.Settings"
FILE = "/sdcard/a.mp4"


@pytest.fixture
def phone() -> Phone:
    """Return a phone with a small screen."""
    return Phone(size=(200, 400), density=100)


class Pictures(Collected):
    """The pieces in which a picture was written."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []

    async def write(self, data: bytes) -> None:
        """Take a piece."""
        self.pieces.append(data)
        await super().write(data)


def taken(phone: Phone) -> list[bytes]:
    """Take a picture through the shell; return the pieces in which it came."""

    async def take() -> list[bytes]:
        out, err = Pictures(), Collected()
        await run_script(phone.device.make_shell(), "screencap -p", Pieces([b""]), out, err)
        assert err.data == b""
        return out.pieces

    return asyncio.run(take())


def test_a_picture_shows_the_screen_of_its_moment(phone: Phone) -> None:
    """It is the same until the screen changes; its header comes before the rest is drawn."""
    camera = phone.device.camera
    first = taken(phone)

    assert first == taken(phone)
    assert first[0] == camera.png_beginning()
    assert first[0].startswith(b"\x89PNG")
    assert int.from_bytes(first[0][16:20], "big") == 200
    phone.out("screencap -p /sdcard/a.png; screencap /sdcard/b.png")
    files = phone.device.files
    assert files.read("/sdcard/a.png") == files.read("/sdcard/b.png") == b"".join(first)
    assert phone.device.stats.screenshots == 4

    async def act() -> tuple[bytes, bytes]:
        drawing = camera.png()
        await phone.shell(START_SETTINGS)
        return await drawing, await camera.png()

    before, after = asyncio.run(act())
    assert before == b"".join(first) != after
    phone.out("input keyevent SLEEP")
    assert len(b"".join(taken(phone))) < len(before)


def test_several_requests_share_one_picture(phone: Phone) -> None:
    """One that gives up does not take the picture away from the others."""
    camera = phone.device.camera

    async def act() -> tuple[bytes, bytes]:
        leaving, *staying = (asyncio.ensure_future(camera.png()) for _ in range(3))
        await asyncio.sleep(0)
        leaving.cancel()
        one, other = await asyncio.wait_for(asyncio.gather(*staying), DEADLINE)
        return one, other

    one, other = asyncio.run(act())
    assert one is other


def test_a_picture_that_cannot_be_taken_is_an_error(phone: Phone) -> None:
    """The message is that of the real program, but for raw pixels, which are not offered."""
    for arguments, message in {
        "-d 0 -p": "Failed to take screenshot. Status: -2\nCapturing failed.\n",
        "-p /nowhere/a.png": "Error opening file: /nowhere/a.png (No such file or directory)\n",
        "": "screencap: only PNG is offered here\nusage: screencap -p [-d display-id] [FILENAME]\n",
    }.items():
        assert phone.run(f"screencap {arguments}") == (1, "", message), arguments
    phone.device.faults.set("storage_full")
    for target in ("stdout", "/sdcard/a.png"):
        message = f"Error opening file: {target} (No space left on device)\n"
        ended = phone.run(f"screencap -p {target if '/' in target else ''}")
        assert ended == (1, "", message)


# screenrecord


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
    """SIGINT or SIGHUP, sent by process name or by the shell's pid, ends the recording cleanly."""
    script = f"exec sh -c 'echo $$ > /sdcard/pid; exec screenrecord {FILE}'"
    kill = f"kill -0 $(cat /sdcard/pid) && kill {signal} $(pidof screenrecord)"

    ended = record(phone, script, lambda: phone.shell(kill))

    assert ended == (0, "", "")
    assert is_whole(film_on(phone))
    assert phone.run("pidof screenrecord") == (1, "", "")


@pytest.mark.parametrize(
    ("signals", "status"),
    [("-9", 137), ("", 143), ("-INT $(cat /sdcard/pid); kill -INT", 130)],
)
def test_a_kill_leaves_an_unfinished_film(phone: Phone, signals: str, status: int) -> None:
    """Any other signal, or a second interrupt, leaves a film that cannot be played."""
    kill = f"pidof screenrecord > /sdcard/pid; kill {signals} $(cat /sdcard/pid)"

    ended = record(phone, f"screenrecord {FILE}; echo $?", lambda: phone.shell(kill))

    assert ended == (0, f"{status}\n", "")
    assert not is_whole(film_on(phone))


def test_the_film_is_finished_when_the_host_goes_away(phone: Phone) -> None:
    """No process stays."""

    async def scenario() -> Ended:
        service = f"shell,v2,raw:exec screenrecord {FILE}"
        serving = asyncio.ensure_future(serve_shell(service, FakeStream(), phone.device.make_shell))
        await asyncio.wait_for(started(phone), DEADLINE)
        serving.cancel()
        await asyncio.wait([serving], timeout=DEADLINE)
        return await phone.shell("pidof screenrecord")

    assert asyncio.run(scenario()) == (1, "", "")
    assert is_whole(film_on(phone))


def test_what_cannot_be_recorded_is_an_error(phone: Phone) -> None:
    """Options, the file, and a phone that is full when the film is to be written."""

    async def fill() -> None:
        phone.device.faults.set("storage_full")
        await phone.shell("kill -INT $(pidof screenrecord)")

    for arguments, status, message in [
        ("", 2, "screenrecord: Must specify output file (see --help)."),
        (f"--time-limit 0 {FILE}", 2, "screenrecord: Time limit 0s outside acceptable range"),
        (f"--wings {FILE}", 2, "screenrecord: unknown option or no value -- wings"),
        ("/nowhere/a.mp4", 1, "Unable to open '/nowhere/a.mp4': No such file or directory\n"),
    ]:
        ended = phone.run(f"screenrecord {arguments}")
        assert (ended.status, ended.out) == (status, "")
        assert ended.err.startswith(message)
    ended = record(phone, f"screenrecord {FILE}", fill)
    assert ended == (1, "", f"Unable to open '{FILE}': No space left on device\n")
