"""A video in segments, on a device in memory whose ``screenrecord`` runs until it is told."""

from __future__ import annotations

import re
import threading

import pytest

from pytest_clawperator.errors import DeviceUnavailableError, ErrorCode, ShellError, TransportError
from pytest_clawperator.plugin.video import Video
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.transport import ScriptedTransport

DEADLINE = 10.0
OK = ShellResult("", "", 0)


class Recording(ScriptedTransport):
    """Has a ``screenrecord`` that ends by itself so many times, and then on a signal.

    ``obeys`` is the signal, ``status`` what it ends with then, and ``deaf`` how many signals
    come before the process is there.
    """

    def __init__(
        self,
        *,
        full_segments: int = 0,
        content: bytes = b"mp4",
        refusal: str = "",
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
        """Give a file, or say that there is none."""
        if path in self.files:
            return self.files[path]
        raise TransportError("no such file", code=ErrorCode.FILE_UNAVAILABLE)


def test_segments_are_chained() -> None:
    """A segment that ended by itself is followed by the next, and all come back in order."""
    device = Recording(full_segments=2)
    video = Video(device)
    assert device.recording.wait(DEADLINE)

    segments = video.stop()

    assert segments == [b"mp41", b"mp42", b"mp43"]
    assert device.files == {}


def test_only_its_own_process_is_ended() -> None:
    """The interrupt goes to the process whose number the shell wrote down."""
    device = Recording()
    video = Video(device)
    assert device.recording.wait(DEADLINE)

    video.stop()

    record, kill, remove = device.commands
    path = record.removesuffix("'").rpartition(" ")[2]
    options = "--bit-rate 4000000 --time-limit 180"
    assert record == f"exec sh -c 'echo $$ > {path}.pid; exec screenrecord {options} {path}'"
    assert kill == f"kill -INT $(cat {path}.pid)"
    assert remove == f"rm -f {path.removesuffix('1.mp4')}*"


def test_a_process_that_is_not_there_yet() -> None:
    """The interrupt is sent again until there is somebody to take it."""
    device = Recording(deaf=2)
    video = Video(device)
    assert device.recording.wait(DEADLINE)

    segments = video.stop()

    assert segments == [b"mp41"]
    assert sum(command.startswith("kill -INT") for command in device.commands) == 3


def test_a_segment_that_was_not_finished() -> None:
    """A segment whose process ended badly is no video, and those before it are."""
    device = Recording(full_segments=1, status=130)
    video = Video(device)
    assert device.recording.wait(DEADLINE)

    segments = video.stop()

    assert segments == [b"mp41"]
    assert device.files == {}


def test_a_device_that_does_not_end_it() -> None:
    """It is waited for, interrupted only once, killed at last, and named."""
    told: list[str] = []
    device = Recording(obeys="KILL", status=137)
    video = Video(device, on_problem=told.append, finishing=0.2)
    assert device.recording.wait(DEADLINE)

    with pytest.raises(ShellError, match=r"did not end within 0[.]2 s after it was interrupted"):
        video.stop()

    signals = [command.split()[1] for command in device.commands if command.startswith("kill")]
    assert signals == ["-INT", "-KILL"]
    assert told == ["no video: screenrecord did not end within 0.2 s after it was interrupted"]


def test_a_dropped_video_is_removed_unread() -> None:
    """A video that nobody wants is ended and removed without being read."""
    device = Recording()
    video = Video(device)
    assert device.recording.wait(DEADLINE)

    video.drop()

    assert device.commands[-1].startswith("rm -f ")


def test_a_device_without_video() -> None:
    """A refusal is told once, with the device's words, and ends it."""
    told: list[str] = []
    video = Video(Recording(refusal="ERROR: no codec\n"), on_problem=told.append)
    video._thread.join(DEADLINE)

    with pytest.raises(ShellError, match="screenrecord ended with 1; it printed: ERROR: no codec"):
        video.stop()

    assert told == ["no video: screenrecord ended with 1; it printed: ERROR: no codec"]


def test_an_empty_video() -> None:
    """Segments without a picture are no video."""
    device = Recording(content=b"")
    video = Video(device)
    assert device.recording.wait(DEADLINE)

    with pytest.raises(ShellError, match="the recording holds no picture"):
        video.stop()


def test_a_device_that_went_away() -> None:
    """What is gone with the device is told and not waited for."""

    class Gone(ScriptedTransport):
        def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
            raise DeviceUnavailableError("adb says: device offline", serial="PH1")

    told: list[str] = []
    video = Video(Gone(), on_problem=told.append)
    video._thread.join(DEADLINE)

    with pytest.raises(DeviceUnavailableError):
        video.stop()

    assert told == ["no video: adb says: device offline"]
