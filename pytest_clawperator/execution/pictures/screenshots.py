"""Screenshots: taking one, and a folder for those that were given no path."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pytest_clawperator.errors import UNUSABLE_FILE, TransportError, file_problem
from pytest_clawperator.execution.pictures.display import take_picture
from pytest_clawperator.transport.interface import Transport

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `_locked` asks

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"IEND"
_OURS = re.compile(r"clawperator-\d+-\w+")
# How long it takes at most until a new folder is locked, in seconds.
_UNLOCKED_FOR = 60.0


def is_png(content: bytes) -> bool:
    """Whether bytes begin as a PNG file does."""
    return content.startswith(_PNG)


def no_picture(output: bytes) -> str:
    """Return the message about what ``screencap -p`` printed instead of a picture."""
    said = output[:200].decode("utf-8", "replace").strip()
    return f"screencap gave no picture; it said: {said or 'nothing'}"


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
    except TransportError as exc:
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
    except UNUSABLE_FILE as exc:
        return Screenshot(error=f"{file} cannot be written: {file_problem(exc)}")
    return Screenshot(picture, str(file), display=taken.display)


class ScreenshotFolder:
    """A temporary folder for screenshots without a path, made at its first use.

    The process keeps it locked, which tells others that it lives: a process id says nothing to
    those in other containers, who may share the place.
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
        return  # nothing tells whether they were
    for folder in parent.iterdir():
        if _OURS.fullmatch(folder.name) and _is_left(folder):
            lock = _locked(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _is_left(folder: Path) -> bool:
    """Whether a folder is this user's, and older than one that is about to be locked."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and time.time() - found.st_mtime > _UNLOCKED_FOR


def _locked(folder: Path) -> int | None:
    """Lock a folder and return its descriptor; None if another process has it."""
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
