"""Removing the lock files that killed processes left long ago."""

from __future__ import annotations

import os
import re
import time
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution.flight import remove_idle
from pytest_clawperator.execution.locks.folder import open_folder
from pytest_clawperator.execution.locks.lock_file import find_lock_file, lock_standing

# Files that nobody touched for a day are looked at; locking one that is in use would disturb.
_LONG = 24 * 60 * 60.0
_OURS = re.compile(r"pytest-clawperator-.*-[0-9a-f]{8}\.(flight|lease|holder|port)")


@lru_cache(maxsize=8)
def sweep(folder: Path) -> None:
    """Remove old files of killed processes from the folder, once per process."""
    with suppress(OSError, ConfigurationError):
        for path in _old_files(folder):
            with suppress(OSError, ConfigurationError):
                _remove_left(path)


def _old_files(folder: Path) -> list[Path]:
    long_ago = time.time() - _LONG
    with open_folder(folder) as descriptor, os.scandir(descriptor) as entries:
        return [
            folder / entry.name
            for entry in entries
            if _OURS.fullmatch(entry.name)
            if entry.stat(follow_symlinks=False).st_mtime < long_ago
        ]


def _remove_left(path: Path) -> None:
    """Remove an old file; a holder's file only while its lease is locked."""
    if path.suffix != ".holder":
        remove_idle(path)
        return
    holder = find_lock_file(path)
    lease = lock_standing(path.with_suffix(".lease")) if holder is not None else None
    if holder is not None and lease is not None:
        with closing(holder), closing(lease):
            holder.remove()
            lease.remove()
