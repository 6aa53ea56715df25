"""Pictures of the screen, ``screencap``, and ``screenrecord`` with its canned film."""

from __future__ import annotations

import asyncio
import base64
import re
import struct
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Any

from pytest_clawperator.simulator.android.packages import LAUNCHER
from pytest_clawperator.simulator.android.system import AndroidSystem, Display
from pytest_clawperator.simulator.files import FULL, FileSystemError
from pytest_clawperator.simulator.picture.png import PngEncoder, beginning
from pytest_clawperator.simulator.screen.accessibility import Window
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.shell.shell import CommandFailure, Invocation

# The drawn clock stands still, so that equal screens give equal pictures.
_CLOCK_TEXT = "10:00"


class Camera:
    """Takes pictures of one phone's screen, also after the phone was reset."""

    def __init__(self) -> None:
        self._view: tuple[PhoneUi, Display] | None = None
        self._views = 0
        self._key: Hashable = None
        self._drawing: asyncio.Task[bytes] | None = None
        self._encoder = PngEncoder()

    def point_at(self, ui: PhoneUi, display: Display) -> None:
        """Take pictures of this screen from now on."""
        self._view = ui, display
        self._views += 1

    def png(self, *, dark: bool = False) -> Awaitable[bytes]:
        """Capture the screen as it is now, or a dark one; await the result for the picture.

        It is the last picture if nothing has changed since.
        """
        ui, display = self._looked_at()
        if dark:
            return asyncio.ensure_future(asyncio.to_thread(_draw, None, ui.display.size))
        key = self._views, ui.view.version, display.awake
        if self._drawing is None or self._key != key or _has_failed(self._drawing):
            self._key = key
            drawing = asyncio.to_thread(self._captured())
            self._drawing = asyncio.get_running_loop().create_task(drawing)
        # Several callers may wait for the same picture, and one that leaves must not end it.
        return asyncio.shield(self._drawing)

    def png_beginning(self) -> bytes:
        """Return the PNG header, which a phone sends as soon as the screen is captured."""
        width, height = self._looked_at()[0].display.size
        return beginning((max(1, width), max(1, height)))

    def _looked_at(self) -> tuple[PhoneUi, Display]:
        assert self._view is not None
        return self._view

    def _captured(self) -> Callable[[], bytes]:
        """Return what draws the screen as it is now."""
        ui, display = self._looked_at()
        if not display.awake:
            return partial(_draw, None, ui.display.size)
        return partial(
            _draw,
            ui.view.windows(),
            ui.display.size,
            dark=ui.display.dark,
            clock_text=_CLOCK_TEXT,
            density=ui.display.density,
            font_scale=ui.display.font_scale,
            encoder=self._encoder,
        )


def _has_failed(drawing: asyncio.Task[bytes]) -> bool:
    return drawing.done() and (drawing.cancelled() or drawing.exception() is not None)


def _draw(windows: Sequence[Window] | None, size: tuple[int, int], **options: Any) -> bytes:
    """Draw the windows, bottom to top, or a black screen if there are none."""
    # Pillow costs more to import than everything else together, so it waits for a picture.
    from pytest_clawperator.simulator.picture.render import black_screen, draw

    return black_screen(size) if windows is None else draw(windows, size=size, **options)


DISPLAY_ID = "4619827259835644672"

DARK_DISPLAY_ID = "4619827677550801152"
"""The panel on the other side of a foldable, which comes first in the order of the ports."""


# Apps of the system, which never forbid pictures.
_PICTURED = frozenset({LAUNCHER, "com.android.settings", "com.android.systemui"})


_SCREENCAP_USAGE = "usage: screencap -p [-d display-id] [FILENAME]\n"
_SEVERAL_DISPLAYS = (
    "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the"
    " first display found, however this default is not guaranteed to be consistent across"
    " captures. A display id should be specified.\n"
    "A display ID can be specified with the [-d display-id] option.\n"
    'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.\n'
)


_MAX_SECONDS = 180
_OPTIONS = ("--bit-rate", "--size", "--time-limit")
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
    is_png = "-p" in words or (paths[:1] and paths[0].endswith(".png"))
    if not is_png or set(words) - set(paths) - {"-p"}:
        await invocation.err(f"screencap: only PNG is offered here\n{_SCREENCAP_USAGE}")
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
    system.stats.screenshots += 1
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
    given, seconds = _parse(invocation.args[1:])
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


def _parse(words: Sequence[str]) -> tuple[str, int]:
    """Return the path and the seconds; raise CommandFailure for other options."""
    paths, seconds, waiting = list[str](), _MAX_SECONDS, list(words)
    while waiting:
        word, equals, value = waiting.pop(0).partition("=")
        if not word.startswith("-"):
            paths.append(word + equals + value)
            continue
        if word not in _OPTIONS or not (equals or waiting):
            raise CommandFailure(f"unknown option or no value -- {word.lstrip('-')}", status=2)
        value = value if equals else waiting.pop(0)
        if word == "--time-limit":
            seconds = int(value) if re.fullmatch("[0-9]{1,8}", value) else 0
    if not 1 <= seconds <= _MAX_SECONDS:
        message = f"Time limit {seconds}s outside acceptable range [1,{_MAX_SECONDS}]"
        raise CommandFailure(message, status=2)
    if len(paths) != 1:
        raise CommandFailure("Must specify output file (see --help).", status=2)
    return paths[0], seconds
