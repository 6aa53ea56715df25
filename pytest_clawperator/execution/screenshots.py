"""A folder for pictures that nobody gave a place, gone when the client is."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

_OURS = re.compile(r"clawperator-(\d+)-\w+")


class Scratch:
    """A temporary folder, made at its first use."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process = os.getpid()

    def file(self, name: str) -> Path:
        """Say where a file of this name goes."""
        if self._folder is None:
            _sweep(Path(tempfile.gettempdir()))
            self._folder = tempfile.TemporaryDirectory(prefix=f"clawperator-{os.getpid()}-")
        return Path(self._folder.name) / name

    def close(self) -> None:
        """Remove the folder and what is in it, unless it is the parent process's."""
        if self._folder is not None and self._process == os.getpid():
            self._folder.cleanup()
            self._folder = None


def _sweep(parent: Path) -> None:
    """Remove the folders of processes that were killed before they could."""
    for folder in parent.iterdir():
        found = _OURS.fullmatch(folder.name)
        if found and not _is_alive(int(found[1])) and _is_own(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _is_own(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return found.st_uid == os.getuid()
