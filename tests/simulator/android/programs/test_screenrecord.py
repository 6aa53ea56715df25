"""``screenrecord``: how it is asked, how it ends, and what is in its films."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from PIL import Image

from pytest_clawperator.simulator.shell.service import serve_shell
from tests.doubles.simulator.android_phone import DEADLINE, Ended, FakeStream, Phone
from tests.doubles.simulator.films import is_whole, shown

FILE = "/sdcard/a.mp4"

SMALL: dict[str, Any] = {"size": (200, 400), "density": 100}


class Camera:
    """A phone that tells of every frame that is taken of its screen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **options: object) -> None:
        self.phone = Phone(**{**SMALL, **options})
        self.device = self.phone.device
        self._taken: asyncio.Queue[bytes] = asyncio.Queue()
        take = self.device.camera.jpeg

        async def frame(size: tuple[int, int]) -> bytes:
            data = await take(size)
            self._taken.put_nowait(data)
            return data

        monkeypatch.setattr(self.device.camera, "jpeg", frame)

    async def frame(self) -> bytes:
        """Wait for the next frame."""
        return await asyncio.wait_for(self._taken.get(), DEADLINE)

    def film(self) -> bytes:
        """Return the film as it is on the phone now."""
        return self.device.files.read(FILE)

    async def record(self, script: str, meanwhile: Callable[[], Awaitable[object]]) -> Ended:
        """Run a script, do something once its recording has its first frame, and wait."""
        recording = asyncio.ensure_future(self.phone.shell(script))
        await self.frame()
        assert not is_whole(self.film())
        await meanwhile()
        return await recording


@pytest.fixture(scope="module")
def phone() -> Phone:
    """Return a phone that records nothing."""
    return Phone(**SMALL)


@pytest.fixture
def camera(monkeypatch: pytest.MonkeyPatch) -> Camera:
    """Return a phone whose frames can be waited for."""
    return Camera(monkeypatch)


class TestEnding:
    """How a recording ends, and whether its film is whole then."""

    def test_it_ends_at_the_time_limit(self, camera: Camera) -> None:
        """It ends by itself when its time is up."""
        ended = camera.phone.run(f"screenrecord --verbose --time-limit 1 {FILE}")

        said = "Configuring recorder for 200x400 video/mjpeg\nStopping encoder and muxer\n"
        assert ended == (0, said, "")
        assert sum(shown(camera.film()).durations) >= 1000

    @pytest.mark.parametrize(
        "interrupt",
        [
            "kill -INT $(pidof screenrecord)",
            "kill -2 $(pgrep screenrec)",
            "kill -s SIGHUP $(pgrep -x screenrecord)",
            "pkill -2 screenrecord",
        ],
    )
    def test_an_interrupt_finishes_the_film(self, camera: Camera, interrupt: str) -> None:
        """An interrupt ends it, well."""
        scenario = camera.record(f"screenrecord {FILE}", lambda: camera.phone.shell(interrupt))

        ended = asyncio.run(scenario)

        assert ended == (0, "", "")
        assert len(shown(camera.film()).frames) == 1

    def test_a_script_can_interrupt_it_by_its_pid(self, camera: Camera) -> None:
        """The number that a script knows is the process's own."""
        script = f"exec sh -c 'echo $$ > /sdcard/pid; exec screenrecord {FILE}'"
        kill = "kill -0 $(cat /sdcard/pid) && kill -INT $(cat /sdcard/pid)"
        said: list[Ended] = []

        async def interrupt() -> None:
            said.append(await camera.phone.shell(kill))

        ended = asyncio.run(camera.record(script, interrupt))

        assert [said[0], ended] == [(0, "", "")] * 2
        assert is_whole(camera.film())

    @pytest.mark.parametrize(
        ("signals", "status"),
        [("-9", 137), ("-TERM", 143), ("", 143), ("-INT $pid; kill -INT", 130)],
    )
    def test_a_kill_leaves_an_unfinished_film(
        self, camera: Camera, signals: str, status: int
    ) -> None:
        """Any other signal, or a second interrupt, leaves a film that nobody can play."""
        kill = f"pid=$(pidof screenrecord); kill {signals} $pid"
        scenario = camera.record(f"screenrecord {FILE}; echo $?", lambda: camera.phone.shell(kill))

        ended = asyncio.run(scenario)

        assert ended == (0, f"{status}\n", "")
        assert not is_whole(camera.film())

    def test_the_host_goes_away(self, camera: Camera) -> None:
        """When the stream closes, the film is finished and no process stays."""

        async def scenario() -> Ended:
            stream = FakeStream()
            make_shell = camera.device.make_shell
            service = f"shell,v2,raw:exec screenrecord {FILE}"
            serving = asyncio.ensure_future(serve_shell(service, stream, make_shell))
            await camera.frame()
            serving.cancel()
            await asyncio.wait([serving], timeout=DEADLINE)
            return await camera.phone.shell("pidof screenrecord")

        assert asyncio.run(scenario()) == (1, "", "")
        assert is_whole(camera.film())

    def test_control_c_finishes_the_film(self, camera: Camera) -> None:
        """Typed at a terminal, it ends the recording and leaves a whole film."""

        async def scenario() -> None:
            stream = FakeStream(incoming=[f"screenrecord {FILE}\n".encode()])
            serving = asyncio.ensure_future(
                serve_shell("shell:", _Typed(stream, camera), camera.device.make_shell)
            )
            await asyncio.wait_for(serving, DEADLINE)

        asyncio.run(scenario())

        assert is_whole(camera.film())

    def test_a_full_phone_is_reported_at_the_end(self, camera: Camera) -> None:
        """A phone that is full when the film is to be written says so."""

        async def fill() -> None:
            camera.device.faults.set("storage_full")
            await camera.phone.shell("pkill -INT screenrecord")

        ended = asyncio.run(camera.record(f"screenrecord {FILE}", fill))

        said = "Failed writing data to muxer: No space left on device\n"
        assert ended == (1, "", said)


class _Typed:
    """A terminal at which Ctrl-C is typed once something is recorded."""

    def __init__(self, stream: FakeStream, camera: Camera) -> None:
        self._stream = stream
        self._camera = camera

    async def read(self) -> bytes:
        """Return the command, then the keys."""
        if self._stream.incoming:
            return await self._stream.read()
        await self._camera.frame()
        return b"\x03"

    async def write(self, data: bytes) -> None:
        """Show it."""
        await self._stream.write(data)


class TestFrames:
    """What is in a film."""

    def test_only_what_changed(self, camera: Camera) -> None:
        """There is a frame for each picture, and none while the screen stands still."""

        async def use() -> None:
            await camera.phone.shell("am start -n com.android.settings/.Settings")
            await camera.frame()
            await camera.phone.shell("input keyevent POWER")
            await camera.frame()
            await camera.phone.shell("pkill -INT screenrecord")

        asyncio.run(camera.record(f"screenrecord {FILE}", use))

        read = shown(camera.film())
        pictures = [Image.open(io.BytesIO(frame)) for frame in read.frames]
        assert {picture.size for picture in pictures} == {read.size} == {(200, 400)}
        assert len(set(read.frames)) == 3
        assert pictures[2].convert("L").getextrema() == (0, 0)

    def test_the_last_moment(self, camera: Camera) -> None:
        """What shows when it is interrupted is in the film."""
        script = "am start -n com.android.settings/.Settings; pkill -INT screenrecord"

        asyncio.run(camera.record(f"screenrecord {FILE}", lambda: camera.phone.shell(script)))

        assert len(shown(camera.film()).frames) == 2

    def test_after_a_reset(self, camera: Camera) -> None:
        """It goes on with what the phone shows after everything was set back."""

        async def use() -> None:
            await camera.phone.shell("sim reset")
            await camera.frame()
            await camera.phone.shell("pkill -INT screenrecord")

        ended = asyncio.run(camera.record(f"screenrecord {FILE}", use))

        assert ended.status == 0

    @pytest.mark.parametrize(
        ("screen", "option", "size"),
        [
            ((1080, 2400), "", (540, 1200)),
            ((200, 400), "--size 90x90", (90, 90)),
        ],
    )
    def test_a_large_screen_is_halved_unless_a_size_is_given(
        self,
        monkeypatch: pytest.MonkeyPatch,
        screen: tuple[int, int],
        option: str,
        size: tuple[int, int],
    ) -> None:
        """A large screen is halved, and any size can be asked for."""
        camera = Camera(monkeypatch, size=screen)
        stop = "pkill -INT screenrecord"

        asyncio.run(
            camera.record(f"screenrecord {option} {FILE}", lambda: camera.phone.shell(stop))
        )

        assert shown(camera.film()).size == size


class TestProcess:
    """How it looks beside others."""

    def test_it_is_listed_as_a_process_while_it_runs(self, camera: Camera) -> None:
        """While it runs it is a process of the shell's user, and afterwards none."""
        listed: list[Ended] = []

        async def look() -> None:
            listed.append(await camera.phone.shell("ps -o USER,NAME"))
            await camera.phone.shell("pkill -INT screenrecord")

        asyncio.run(camera.record(f"screenrecord {FILE}", look))

        assert "shell         screenrecord\n" in listed[0].out
        assert camera.phone.run("pgrep screenrecord") == (1, "", "")

    def test_pkill_ends_only_the_shells_processes(self, phone: Phone) -> None:
        """What is not the shell's is not ended; what is not there is reported by the status."""
        pid = phone.out("pidof system_server").strip()

        ended = phone.run("pkill system_server")

        assert ended == (0, "", f"pkill: {pid}: Operation not permitted\n")
        assert phone.run("pkill nobody") == (1, "", "")
        assert phone.run("pkill -NOPE system_server").err == "pkill: Unknown signal '-NOPE'\n"
        assert phone.run("kill -NOPE 1").err == "/system/bin/sh: kill: bad signal '-NOPE'\n"
        assert "Needs 1 argument" in phone.run("pgrep").err
