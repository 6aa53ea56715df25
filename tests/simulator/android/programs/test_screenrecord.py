"""``screenrecord``: its arguments, how it ends, and whether its film is whole then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from pytest_clawperator.simulator.shell.service import serve_shell
from tests.doubles.simulator.android_phone import DEADLINE, Ended, FakeStream, Phone
from tests.doubles.simulator.films import is_whole, shown

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
