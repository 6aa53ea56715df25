"""Take screenshots: of the right display, and into a folder for those without a path.

Foldables, cars and some emulators have several displays.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport.interface import Transport

_PNG = b"\x89PNG\r\n\x1a\n"
# screencap of a phone with several displays warns, and takes the first: it may be the dark one.
_SEVERAL = b"Multiple displays were found"
_QUESTION = "dumpsys display; dumpsys window displays"
# Windows are on a logical display; the id of the panel behind it is what screencap takes.
_VIEWPORT = re.compile(r"\bdisplayId=(\d+), uniqueId='local:(\d+)'")
_LOGICAL = re.compile(r"\bmBaseDisplayInfo=DisplayInfo\{.*?\bdisplayId (\d+)\b(.*)")
_PANEL = re.compile(r"\buniqueId \"local:(\d+)\"")
_STATE = re.compile(r"\bstate (\w+)")
_FOCUSED = re.compile(r"\bmTopFocusedDisplayId=(\d+)")
_ANSWER_WITHIN = 10.0


@dataclass(frozen=True)
class Picture:
    """What screencap printed, without any warning before the picture.

    ``display`` is the number of the display that it shows, if the phone has several.
    """

    content: bytes
    display: int | None = None

    @property
    def is_png(self) -> bool:
        """Whether it is a picture."""
        return self.content.startswith(_PNG)


@dataclass(frozen=True)
class Display:
    """A display: its number, the id of its panel, and whether it is on (None: unknown)."""

    number: int
    panel: str
    is_on: bool | None = None


def take_picture(
    transport: Transport, *, timeout: float = 30.0, on_captured: Callable[[], None] = lambda: None
) -> Picture:
    """Photograph the display that tests use: the chosen one, else the one with the focus.

    ``on_captured`` is called when the screen may change again, which is long before the picture
    is here: a phone compresses what it captured while it prints it.
    """
    chosen = transport.display
    if chosen is not None:
        displays, _ = read_displays(transport)
        display = _named(displays, chosen, transport.serial)
        return _photograph(transport, display, timeout, on_captured)
    watch = _Watch(on_captured).add
    printed = transport.exec_out("screencap -p", timeout=timeout, on_output=watch)
    picture = Picture(_without_preamble(printed))
    if _SEVERAL not in printed[: len(printed) - len(picture.content)]:
        return picture
    shown = shown_display(*read_displays(transport))
    if shown is None:
        return picture
    better = _photograph(transport, shown, timeout, on_captured)
    return better if better.is_png else picture


def read_displays(transport: Transport) -> tuple[list[Display], int | None]:
    """Return the displays that have a panel, and the number of the one with the focus."""
    dump = transport.shell(_QUESTION, timeout=_ANSWER_WITHIN).stdout
    focused = _FOCUSED.search(dump)
    return parse_displays(dump), int(focused[1]) if focused else None


def parse_displays(dump: str) -> list[Display]:
    """Parse ``dumpsys display``."""
    found = {
        int(number): Display(int(number), panel) for number, panel in _VIEWPORT.findall(dump)[::-1]
    }
    for number, rest in _LOGICAL.findall(dump):
        panel, state = _PANEL.search(rest), _STATE.search(rest)
        known = found.get(int(number))
        name = panel[1] if panel else known.panel if known else None
        if name is not None:
            is_on = state[1] == "ON" if state else None
            found[int(number)] = Display(int(number), name, is_on)
    return sorted(found.values(), key=lambda display: display.number)


def shown_display(displays: list[Display], focused: int | None) -> Display | None:
    """Return the display in use: one that is on, with the focus if possible, else the first."""
    ranked = sorted(
        displays, key=lambda one: (one.is_on is False, one.number != (focused or 0), one.number)
    )
    return ranked[0] if ranked else None


def _named(displays: list[Display], number: int, serial: str) -> Display:
    for display in displays:
        if display.number == number:
            return display
    there = ", ".join(str(display.number) for display in displays) or "none"
    raise errors.ShellError(
        f"there is no display {number} to photograph; there are: {there}",
        code=ErrorCode.DEVICE_COMMAND_FAILED,
        serial=serial,
        hint="See them with `adb shell dumpsys display`: those whose uniqueId begins with local.",
    )


def _photograph(
    transport: Transport, display: Display, timeout: float, on_captured: Callable[[], None]
) -> Picture:
    command, watch = f"screencap -d {display.panel} -p", _Watch(on_captured).add
    printed = transport.exec_out(command, timeout=timeout, on_output=watch)
    return Picture(_without_preamble(printed), display.number)


class _Watch:
    """Calls back when the PNG header comes, which a phone sends once the screen is captured.

    Not after a warning about several displays: the picture may be of the wrong one.
    """

    def __init__(self, on_captured: Callable[[], None]) -> None:
        self._on_captured = on_captured
        self._printed: bytes | None = b""

    def add(self, piece: bytes) -> None:
        """Take the next piece of output."""
        if self._printed is None:
            return
        self._printed += piece
        preamble, begins, _ = self._printed.partition(_PNG)
        if begins:
            self._printed = None
            if _SEVERAL not in preamble:
                self._on_captured()


def _without_preamble(printed: bytes) -> bytes:
    """Return the picture, or all of the output if it contains none."""
    return printed[max(printed.find(_PNG), 0) :]


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `_locked` asks

_PNG_END = b"IEND"
_OURS = re.compile(r"clawperator-\d+-\w+")
# How long it takes at most until a new folder is locked, in seconds.
_UNLOCKED_FOR = 60.0


def is_png(content: bytes) -> bool:
    """Whether bytes begin as a PNG file does."""
    return content.startswith(_PNG)


def no_picture(output: bytes) -> str:
    """Return the message about what ``screencap -p`` printed instead of a picture."""
    printed = output[:200].decode("utf-8", "replace").strip()
    return f"screencap gave no picture; it said: {printed or 'nothing'}"


@dataclass(frozen=True)
class Screenshot:
    """A screenshot that was taken: its bytes and its file, or else the error.

    ``display`` is the display that it shows, if the phone has several.
    """

    picture: bytes | None = None
    path: str | None = None
    error: str | None = None
    display: int | None = None


def take_screenshot(
    transport: Transport, folder: ScreenshotFolder, *, command_id: str, path: str
) -> Screenshot:
    """Capture the screen into the file at ``path``, or into one of the folder.

    A failure is returned, not raised.
    """
    try:
        taken = take_picture(transport)
    except errors.TransportError as exc:
        return Screenshot(error=str(exc))
    picture = taken.content
    if not taken.is_png:
        return Screenshot(error=no_picture(picture))
    if picture[-8:-4] != _PNG_END:
        return Screenshot(error=f"the picture is cut off after {len(picture)} bytes")
    name = f"clawperator-screenshot-{command_id}-{round(time.time() * 1000)}.png"
    file = Path(path) if path else folder.file(re.sub(r"[^A-Za-z0-9._-]+", "_", name))
    try:
        file.write_bytes(picture)
    except errors.UNUSABLE_FILE as exc:
        return Screenshot(error=f"{file} cannot be written: {errors.file_problem(exc)}")
    return Screenshot(picture, str(file), display=taken.display)


class ScreenshotFolder:
    """A temporary folder for screenshots without a path, made at its first use.

    The process keeps it locked, so that others can see that it is in use: process ids are
    meaningless to other containers, which may share the folder.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock: int | None = None
        self._process = os.getpid()

    def file(self, name: str) -> Path:
        """Return the path of a file of this name in the folder."""
        if self._folder is None:
            _sweep(Path(tempfile.gettempdir()))
            self._folder = tempfile.TemporaryDirectory(prefix=f"clawperator-{os.getpid()}-")
            self._lock = _locked(Path(self._folder.name))
        return Path(self._folder.name) / name

    def close(self) -> None:
        """Remove the folder and its files, unless a parent process made it."""
        if self._folder is not None and self._process == os.getpid():
            self._folder.cleanup()
            self._folder = None
            if self._lock is not None:
                os.close(self._lock)


def _sweep(parent: Path) -> None:
    """Remove the folders of processes that were killed before they could."""
    if fcntl is None:
        return  # no way to know whether they were
    for folder in parent.iterdir():
        if _OURS.fullmatch(folder.name) and _is_left(folder):
            lock = _locked(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _is_left(folder: Path) -> bool:
    """Whether a folder is this user's and too old to be one that is just being locked."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and time.time() - found.st_mtime > _UNLOCKED_FOR


def _locked(folder: Path) -> int | None:
    """Lock a folder and return its descriptor; return None if another process has it locked."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
