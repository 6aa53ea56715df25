"""A video in segments, on a device in memory whose ``screenrecord`` runs until it is stopped."""

from __future__ import annotations

import re
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.errors import DeviceUnavailableError, ErrorCode, ShellError, TransportError
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.video import AttemptVideos, Video
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.transport import ScriptedTransport

DEADLINE = 10.0
OK = ShellResult("", "", 0)


class Recording(ScriptedTransport):
    """Has a ``screenrecord`` that ends by itself so many times, and then on a signal.

    ``obeys`` is the signal, ``status`` what it ends with then, and ``deaf`` how many signals
    come before the process is there. ``refusal`` is what it prints instead of recording.
    """

    def __init__(
        self,
        *,
        full_segments: int = 0,
        content: bytes = b"mp4",
        refusal: str | Exception = "",
        obeys: str = "INT",
        status: int = 0,
        deaf: int = 0,
    ) -> None:
        super().__init__()
        self._full = full_segments
        self._content = content
        self._refusal = refusal
        self._obeys = obeys
        self._status = status
        self._deaf = deaf
        self._ended = threading.Event()
        self.recording = threading.Event()
        self.commands: list[str] = []

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Record, signal, or remove."""
        self.commands.append(command)
        if isinstance(self._refusal, Exception):
            raise self._refusal
        if command.startswith("kill "):
            return self._signal(command)
        if command.startswith("rm -f"):
            self.files.clear()
            return OK
        if self._refusal:
            return ShellResult("", self._refusal, 1)
        return self._record(command)

    def _signal(self, command: str) -> ShellResult:
        if self._deaf:
            self._deaf -= 1
            return ShellResult("", "cat: No such file or directory", 1)
        if command.startswith(f"kill -{self._obeys} "):
            self._ended.set()
        return OK

    def _record(self, command: str) -> ShellResult:
        status = 0
        if self._full:
            self._full -= 1
        else:
            self.recording.set()
            assert self._ended.wait(DEADLINE)
            status = self._status
        path = re.search(r"--time-limit 180 ([^\s']+)", command)
        assert path is not None
        if self._content:
            self.files[path[1]] = self._content + str(len(self.files) + 1).encode()
        return ShellResult("", "", status)

    def pull(self, path: str) -> bytes:
        """Return a file, or raise that there is none."""
        if path in self.files:
            return self.files[path]
        raise TransportError("no such file", code=ErrorCode.FILE_UNAVAILABLE)


class Recorded(ClientActivity):
    """A client whose device is a double."""

    transport: Recording = Recording()


def recorded(device: Recording) -> Video:
    """Return a video of a device that is recording by now."""
    video = Video(device)
    assert device.recording.wait(DEADLINE)
    return video


@pytest.mark.parametrize(
    ("device", "segments"),
    [
        (Recording(full_segments=2), [b"mp41", b"mp42", b"mp43"]),
        (Recording(full_segments=1, status=130), [b"mp41"]),
    ],
    ids=["each ended well", "the last did not"],
)
def test_segments_are_chained(device: Recording, segments: list[bytes]) -> None:
    """A segment that ended by itself is followed by the next; an unfinished one is left out."""
    assert recorded(device).stop() == segments
    assert device.files == {}


def test_only_its_own_process_is_ended() -> None:
    """The interrupt goes to the process whose number the shell wrote, once that is there."""
    device = Recording(deaf=2)

    assert recorded(device).stop() == [b"mp41"]

    record, *kills, remove = device.commands
    path = record.removesuffix("'").rpartition(" ")[2]
    options = "--bit-rate 4000000 --time-limit 180"
    assert record == f"exec sh -c 'echo $$ > {path}.pid; exec screenrecord {options} {path}'"
    assert kills == [f"kill -INT $(cat {path}.pid)"] * 3
    assert remove == f"rm -f {path.removesuffix('1.mp4')}*"


def test_a_device_that_does_not_end_it() -> None:
    """The process is interrupted only once, and killed at last."""
    problems: list[str] = []
    device = Recording(obeys="KILL", status=137)
    video = Video(device, on_problem=problems.append, finishing=0.2)
    assert device.recording.wait(DEADLINE)

    with pytest.raises(ShellError, match=r"did not end within 0[.]2 s after it was interrupted"):
        video.stop()

    signals = [command.split()[1] for command in device.commands if command.startswith("kill")]
    assert signals == ["-INT", "-KILL"]
    assert problems == ["no video: screenrecord did not end within 0.2 s after it was interrupted"]


def test_a_dropped_video_is_removed_unread() -> None:
    """A video that is not wanted is ended and removed."""
    device = Recording()

    recorded(device).drop()

    assert device.commands[-1].startswith("rm -f ")


def test_a_video_without_a_picture_is_an_error() -> None:
    """A test may end before screenrecord begins."""
    with pytest.raises(ShellError, match="the recording holds no picture"):
        recorded(Recording(content=b"")).stop()


@pytest.mark.parametrize(
    ("refusal", "problem"),
    [
        ("ERROR: no codec\n", "screenrecord ended with 1; it printed: ERROR: no codec"),
        (DeviceUnavailableError("adb says: device offline"), "adb says: device offline"),
    ],
    ids=["refused", "gone"],
)
def test_a_device_that_cannot_record_is_reported_once(
    refusal: str | Exception, problem: str
) -> None:
    """With its own words, while the test still runs; stopping raises the same."""
    problems: list[str] = []
    video = Video(Recording(refusal=refusal), on_problem=problems.append)
    video._thread.join(DEADLINE)

    with pytest.raises((ShellError, DeviceUnavailableError), match=problem):
        video.stop()

    assert problems == [f"no video: {problem}"]


def test_what_was_recorded_before_a_pause_is_kept() -> None:
    """In the block nothing records; after it another segment does."""
    first, second = Recording(content=b"first"), Recording(content=b"second")
    inner: Any = SimpleNamespace(serial="PH1", runner=None)
    client = Recorded(inner)
    client.transport = first
    missing: list[str] = []
    videos = AttemptVideos(is_on=lambda: True, notice=print, on_missing=missing.append)
    videos.begin(client)
    assert first.recording.wait(DEADLINE)

    with videos.pausing(client):
        client.transport = second
        is_paused = not second.recording.is_set()
    assert second.recording.wait(DEADLINE)

    assert is_paused
    assert videos.take(client) == [b"first1", b"second1"]
    assert (missing, videos.has(client)) == ([], False)
