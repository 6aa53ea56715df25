"""Files that say that a process lives: it holds a lock on them, which ends with it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `_lock` asks

# flock has no wait with a deadline.
_LOOK_EVERY = 0.02


class HeldFile:
    """A file with values that a living process holds; a process that is killed leaves it stale."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def hold(self, values: Mapping[str, Any]) -> bool:
        """Take the file and write the values; False where another process holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _lock(descriptor):
                os.close(descriptor)
                return False
            if _is_at(descriptor, self.path):
                self._descriptor = descriptor
                self.write(values)
                return True
            os.close(descriptor)  # it was released, and so removed, in that moment

    def write(self, values: Mapping[str, Any]) -> None:
        """Write other values into the file that is held."""
        assert self._descriptor is not None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{json.dumps(values)}\n".encode(), 0)

    def release(self) -> None:
        """Remove the file, if it is held."""
        if self._descriptor is not None:
            with suppress(OSError):
                self.path.unlink()
            os.close(self._descriptor)
            self._descriptor = None


def holder_of(path: Path) -> dict[str, Any] | None:
    """Return the values of a file that a living process holds; None for any other."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        if _lock(descriptor, shared=True):
            return None
        values = json.loads(path.read_text("utf-8") or "{}")
    except (OSError, ValueError):
        return {}
    finally:
        os.close(descriptor)
    return values if isinstance(values, dict) else {}


def wait_for_end(path: Path) -> None:
    """Return when the process that holds the file has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def is_free_before(path: Path, deadline: float) -> bool:
    """Wait until no process holds the file; False where one still does at the deadline."""
    while holder_of(path) is not None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_EVERY)
    return True


def _lock(descriptor: int, *, shared: bool = False) -> bool:
    if fcntl is None:
        raise OSError("the simulated SDK needs Linux or macOS")
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the file is still the one at that path: it may just have been removed."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
