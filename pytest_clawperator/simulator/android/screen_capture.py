"""``screencap`` and ``screenrecord``: pictures of the screen, and a canned film."""

from __future__ import annotations

import asyncio
import base64
import struct
from collections.abc import Sequence

from pytest_clawperator.simulator.android.packages import LAUNCHER
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.files import FULL, FileSystemError
from pytest_clawperator.simulator.shell.shell import Invocation

DISPLAY_ID = "4619827259835644672"
DARK_DISPLAY_ID = "4619827677550801152"
"""The panel on the other side of a foldable, which comes first in the order of the ports."""

# Apps of the system, which never forbid pictures.
_PICTURED = frozenset({LAUNCHER, "com.android.settings", "com.android.systemui"})

_SCREENCAP_USAGE = """usage: screencap [-hp] [-d display-id] [FILENAME]
   -h: this message
   -p: save the file as a png.
   -d: specify the display ID to capture.
If FILENAME ends with .png it will be saved as a png.
If FILENAME is not given, the results will be printed to stdout.
"""

_SEVERAL_DISPLAYS = (
    "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the"
    " first display found, however this default is not guaranteed to be consistent across"
    " captures. A display id should be specified.\n"
    "A display ID can be specified with the [-d display-id] option.\n"
    'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.\n'
)

_MAX_SECONDS = 180
_OPTIONS = ("--bit-rate", "--size", "--time-limit")

_SCREENRECORD_USAGE = f"""Usage: screenrecord [options] <filename>

Records the device's display to a .mp4 file.

Options:
--size WIDTHxHEIGHT
    Set the video size, e.g. "1280x720".
--bit-rate RATE
    Set the video bit rate, in bits per second, e.g. '4000000' or '4M'.
--time-limit TIME
    Set the maximum recording time, in seconds.  Default / maximum is {_MAX_SECONDS}.
--help
    Show this message.

Recording continues until Ctrl-C is hit or the time limit is reached.
"""

# An MP4 file with one picture, a grey square; it lasts as long as `_DURATION` says.
_FILM = base64.b64decode(
    "AAAAGGZ0eXBpc29tAAACAGlzb21tcDQyAAAAqW1kYXT/2P/gABBKRklGAAEBAAABAAEAAP/bAEMAGxIUFxQRGxcWFx4cGyAo"
    "QisoJSUoUTo9MEJgVWVkX1VdW2p4mYFqcZBzW12FtYaQnqOrratngLzJuqbHmairpP/AAAsIABAAEAEBEQD/xAAVAAEBAAAA"
    "AAAAAAAAAAAAAAAABP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AmAf/2QAAAlhtb292AAAAbG12aGQAAAAAAAAA"
    "AAAAAAAAAAPof////wABAAABAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAACAAAB5HRyYWsAAABcdGtoZAAAAAcAAAAAAAAAAAAAAAEAAAAAf////wAAAAAAAAAAAAAA"
    "AAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAEAAAAAAEAAAABAAAAAAAYBtZGlhAAAAIG1kaGQAAAAAAAAA"
    "AAAAAAAAAAPof////1XEAAAAAAAnaGRscgAAAAAAAAAAdmlkZQAAAAAAAAAAAAAAAHNjcmVlbgAAAAExbWluZgAAABR2bWhk"
    "AAAAAQAAAAAAAAAAAAAAJGRpbmYAAAAcZHJlZgAAAAAAAAABAAAADHVybCAAAAABAAAA8XN0YmwAAACJc3RzZAAAAAAAAAAB"
    "AAAAeW1wNHYAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAEAAQAEgAAABIAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAY//8AAAAjZXNkcwAAAAADFQABAAQNbBEAAKEAAAAAAAAAAAYBAgAAABhzdHRzAAAAAAAAAAEAAAABf///"
    "/wAAABxzdHNjAAAAAAAAAAEAAAABAAAAAQAAAAEAAAAYc3RzegAAAAAAAAAAAAAAAQAAAKEAAAAUc3RjbwAAAAAAAAABAAAA"
    "IA=="
)
_DURATION = struct.pack(">I", 0x7FFFFFFF)
# Without the tables at the end no player can play it.
_UNFINISHED_FILM = _FILM[:24] + struct.pack(">I4s", 8, b"mdat")
# A real file is complete only a moment after the signal, and so is this one.
_FINISHING_SECONDS = 0.1
_HANGUP, _INTERRUPT = 1, 2
_KILLED = 128


def display_ids(system: AndroidSystem) -> list[str]:
    """Return the ids of the displays that can be captured, in the order of their ports."""
    return [DARK_DISPLAY_ID, DISPLAY_ID] if "two-displays" in system.quirks else [DISPLAY_ID]


def is_secure(system: AndroidSystem, package: str) -> bool:
    """Whether an app forbids pictures of its windows."""
    return "secure-screen" in system.quirks and package not in _PICTURED


async def screencap(system: AndroidSystem, invocation: Invocation) -> int:
    """Take a picture of the screen, to a file or to the standard output."""
    words = invocation.args[1:]
    displays = display_ids(system)
    display = displays[0]
    if "-d" in words:
        at = words.index("-d")
        display = "".join(words[at + 1 : at + 2])
        words = words[:at] + words[at + 2 :]
    elif len(displays) > 1:
        await invocation.err(_SEVERAL_DISPLAYS)
    paths = [word for word in words if not word.startswith("-")]
    if set(words) - set(paths) - {"-p"}:
        await invocation.err(_SCREENCAP_USAGE)
        return 1
    if "-p" not in words and not (paths and paths[0].endswith(".png")):
        await invocation.err(
            "screencap: raw pixels are not offered here; give -p for a PNG\n" + _SCREENCAP_USAGE
        )
        return 1
    if system.faults.take("storage_full") is not None:
        target = paths[0] if paths else "stdout"
        await invocation.err(f"Error opening file: {target} ({FULL})\n")
        return 1
    if display not in displays:
        await invocation.err("Failed to take screenshot. Status: -2\nCapturing failed.\n")
        return 1
    front = system.ui.view.foreground_package()
    drawing = system.camera.png(dark=display == DARK_DISPLAY_ID or is_secure(system, front))
    system.stats.screenshot()
    if not paths:
        # A phone prints a picture while it compresses it.
        head = system.camera.png_beginning()
        await invocation.stdout.write(head)
        await invocation.stdout.write((await drawing)[len(head) :])
        return 0
    shell = invocation.shell
    try:
        shell.files.write(shell.files.resolve(paths[0], shell.cwd), await drawing)
    except FileSystemError as error:
        await invocation.err(f"Error opening file: {paths[0]} ({error.reason})\n")
        return 1
    return 0


async def screenrecord(system: AndroidSystem, invocation: Invocation) -> int:
    """Record until the time is up or a signal comes, then complete the file."""
    shell = invocation.shell
    try:
        given, seconds = _parse(invocation.args[1:])
    except _Refused as refusal:
        await invocation.err(refusal.message)
        return refusal.status
    path = shell.files.resolve(given, shell.cwd)
    recording = _Recording()
    try:
        shell.files.write(path, _UNFINISHED_FILM)
        try:
            with shell.jobs.program("screenrecord", pid=shell.pid, signal=recording.signal):
                await recording.wait(seconds)
        finally:
            # Also when the host goes away, or Ctrl-C is typed.
            if not recording.killed_by:
                shell.files.write(path, recording.film())
    except FileSystemError as error:
        await invocation.err(f"Unable to open '{given}': {error.reason}\n")
        return 1
    return _KILLED + recording.killed_by if recording.killed_by else 0


class _Recording:
    """Waits for the end of one recording."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._clock = loop.time
        self._began = loop.time()
        self._stop: asyncio.Future[None] = loop.create_future()
        self._work: asyncio.Task[None] | None = None
        self.killed_by = 0

    def signal(self, number: int) -> None:
        """End the film at the first hangup or interrupt; any other signal ends the program."""
        if number in (_HANGUP, _INTERRUPT) and not self._stop.done():
            self._stop.set_result(None)
        elif self._work is not None:
            self.killed_by = number
            self._work.cancel()

    async def wait(self, seconds: int) -> None:
        """Wait for the end, at most so long."""
        self._work = asyncio.create_task(self._until_finished(seconds))
        try:
            await asyncio.wait([self._work])
        finally:
            self._work.cancel()

    async def _until_finished(self, seconds: int) -> None:
        await asyncio.wait([self._stop], timeout=seconds)
        await asyncio.sleep(_FINISHING_SECONDS)

    def film(self) -> bytes:
        """Return a film that is as long as the recording was until now."""
        milliseconds = max(1, round(1000 * (self._clock() - self._began)))
        return _FILM.replace(_DURATION, struct.pack(">I", milliseconds))


class _Refused(Exception):
    """The arguments were refused with this message and exit status."""

    def __init__(self, message: str, *, status: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


def _parse(words: Sequence[str]) -> tuple[str, int]:
    """Return the path and the seconds, or refuse with the message of the real program."""
    paths, seconds, waiting = list[str](), _MAX_SECONDS, list(words)
    while waiting:
        word, equals, value = waiting.pop(0).partition("=")
        if not word.startswith("-"):
            paths.append(word + equals + value)
        elif word == "--help":
            raise _Refused(_SCREENRECORD_USAGE, status=0)
        elif word not in _OPTIONS:
            raise _Refused(f"screenrecord: unknown option -- {word.lstrip('-')}\n")
        elif not equals and not waiting:
            raise _Refused(f"screenrecord: option requires an argument -- {word.lstrip('-')}\n")
        else:
            value = value if equals else waiting.pop(0)
            seconds = _seconds(value) if word == "--time-limit" else seconds
    if len(paths) != 1:
        raise _Refused("Must specify output file (see --help).\n")
    return paths[0], seconds


def _seconds(text: str) -> int:
    seconds = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    if not 1 <= seconds <= _MAX_SECONDS:
        raise _Refused(f"Time limit {seconds}s outside acceptable range [1,{_MAX_SECONDS}]\n")
    return seconds
