"""Files that show that a process is alive: it holds a lock on them, which ends with it."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

# flock has no wait with a deadline.
_POLL_SECONDS = 0.02


class HeldFile:
    """A file of values that a running process locks; a killed process leaves it unlocked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def hold(self, values: Mapping[str, Any]) -> bool:
        """Lock the file and write the values; return False if another process holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _lock(descriptor, fcntl.LOCK_EX):
                os.close(descriptor)
                return False
            if _is_at(descriptor, self.path):
                self._descriptor = descriptor
                self.write(values)
                return True
            os.close(descriptor)  # released, and so removed, in the meantime

    def write(self, values: Mapping[str, Any]) -> None:
        """Replace the values of the file, which must be held."""
        assert self._descriptor is not None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{json.dumps(values)}\n".encode(), 0)

    def release(self) -> None:
        """Remove the file if it is held."""
        if self._descriptor is not None:
            with suppress(OSError):
                self.path.unlink()
            os.close(self._descriptor)
            self._descriptor = None


def holder_of(path: Path) -> dict[str, Any] | None:
    """Return the values of a file that a running process holds, else None."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        if _lock(descriptor, fcntl.LOCK_SH):
            return None
        values: dict[str, Any] = json.loads(path.read_text("utf-8") or "{}")
    except (OSError, ValueError):
        return {}
    finally:
        os.close(descriptor)
    return values


def wait_for_end(path: Path) -> None:
    """Return when the process that holds the file has ended."""
    with suppress(OSError), path.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)


def is_free_before(path: Path, deadline: float) -> bool:
    """Wait until no process holds the file; return False if one still does at the deadline."""
    while holder_of(path) is not None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether the open file is still the one at that path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
