"""``screenrecord``: a film of the screen, until its time is up or a signal comes.

Real phones write H.264. There is no encoder here, so the film is Motion JPEG, with a frame
only where the picture changed: a screen that stands still costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from pytest_clawperator.simulator.android.programs.screenrecord_options import (
    Request,
    RequestRefused,
    parse_request,
)
from pytest_clawperator.simulator.android.system import AndroidSystem, Camera
from pytest_clawperator.simulator.files import FileSystem, FileSystemError
from pytest_clawperator.simulator.picture.film.mp4 import Frame, film, unfinished_film
from pytest_clawperator.simulator.shell.shell import Invocation

_LONGEST_SIDE = 1280
_FRAME_SECONDS = 0.1
# Drawing takes at most a third of the time, however much the screen moves.
_REST = 2
# A real file is whole only a moment after the signal; whoever does not wait for the end of the
# process shall notice it here, too.
_FINISHING_SECONDS = 0.1
_HANGUP, _INTERRUPT = 1, 2
_KILLED = 128


async def screenrecord(system: AndroidSystem, invocation: Invocation) -> int:
    """Record the screen to a file."""
    shell = invocation.shell
    try:
        request = parse_request(invocation.args[1:])
    except RequestRefused as refusal:
        await invocation.err(refusal.message)
        return refusal.status
    path = shell.files.resolve(request.path, shell.cwd)
    try:
        shell.files.write(path, unfinished_film())
    except FileSystemError as error:
        await invocation.err(f"Unable to open '{request.path}': {error.reason}\n")
        return 1
    size = request.size or _default_size(system.ui.display.size)
    if request.verbose:
        await invocation.out("Configuring recorder for {}x{} video/mjpeg\n".format(*size))
    recording = _Recording(system.camera, request, size)
    with shell.jobs.program("screenrecord", pid=shell.pid, signal=recording.signal):
        problem = await recording.save(shell.files, path)
    if recording.killed_by:
        return _KILLED + recording.killed_by
    if problem:
        await invocation.err(f"Failed writing data to muxer: {problem}\n")
        return 1
    if request.verbose:
        await invocation.out("Stopping encoder and muxer\n")
    return 0


def _default_size(screen: tuple[int, int]) -> tuple[int, int]:
    """Return the screen's size, divided until its longer side is small enough."""
    factor = -(-max(screen) // _LONGEST_SIDE)
    return max(1, screen[0] // factor), max(1, screen[1] // factor)


class _Recording:
    """Takes the frames of one film until it is told to end."""

    def __init__(self, camera: Camera, request: Request, size: tuple[int, int]) -> None:
        self._camera = camera
        self._request = request
        self._size = size
        loop = asyncio.get_running_loop()
        self._clock = loop.time
        self._began = self._clock()
        self._stop: asyncio.Future[None] = loop.create_future()
        self._key: Hashable = None
        self._frames: list[tuple[float, bytes]] = []
        self._work: asyncio.Task[str] | None = None
        self.killed_by = 0

    def signal(self, number: int) -> None:
        """End the film at the first hangup or interrupt; any other signal ends the program."""
        if number in (_HANGUP, _INTERRUPT) and not self._stop.done():
            self._stop.set_result(None)
        elif self._work is not None:
            self.killed_by = number
            self._work.cancel()

    async def save(self, files: FileSystem, path: str) -> str:
        """Record until the end and write the file; return what prevented that."""
        self._work = work = asyncio.get_running_loop().create_task(self._record(files, path))
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            # The host went away, or Ctrl-C was typed; the film is finished all the same.
            self.signal(_HANGUP)
            await asyncio.wait([work])
            raise
        finally:
            work.cancel()
        return "" if work.cancelled() else work.result()

    async def _record(self, files: FileSystem, path: str) -> str:
        end = self._began + self._request.seconds
        while not self._stop.done() and self._clock() < end:
            rest = min(await self._look(), end - self._clock())
            await asyncio.wait([self._stop], timeout=max(0.0, rest))
        await self._look()
        await asyncio.sleep(_FINISHING_SECONDS)
        try:
            files.write(path, self._film())
        except FileSystemError as error:
            return error.reason
        return ""

    async def _look(self) -> float:
        """Take a frame if the screen has changed; return how long to rest after it."""
        key, began = self._camera.key(), self._clock()
        if key == self._key:
            return _FRAME_SECONDS
        self._key = key
        data = await self._camera.jpeg(self._size)
        self._frames.append((began, data))
        took, sent = self._clock() - began, 8 * len(data) / self._request.bit_rate
        return max(_FRAME_SECONDS, _REST * took, sent)

    def _film(self) -> bytes:
        moments = [round(1000 * began) for began, _ in self._frames]
        moments.append(round(1000 * self._clock()))
        frames = [
            Frame(data, max(1, moments[number + 1] - moments[number]))
            for number, (_, data) in enumerate(self._frames)
        ]
        return film(frames, size=self._size)
