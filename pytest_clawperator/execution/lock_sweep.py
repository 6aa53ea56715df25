"""Removing the lock files that killed processes left long ago."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution.flight import open_shared, remove_idle

# Files that nobody touched for a day are looked at; locking one that is in use would disturb.
_LONG = 24 * 60 * 60.0
_OURS = re.compile(r"-[0-9a-f]{8}\.(flight|lease|holder)$")


@lru_cache(maxsize=8)
def sweep(folder: Path) -> None:
    """Remove old files of killed processes from the folder, once per process."""
    with suppress(OSError), os.scandir(folder) as entries:
        long_ago = time.time() - _LONG
        for entry in [one for one in entries if _OURS.search(one.name)]:
            with suppress(OSError, ConfigurationError):
                if entry.stat(follow_symlinks=False).st_mtime < long_ago:
                    _remove_left(Path(entry.path))


def _remove_left(path: Path) -> None:
    """Remove an old file; a holder's file only while its lease is locked."""
    if path.suffix == ".holder":
        lease = path.with_suffix(".lease")
        remove_idle(open_shared(lease), path, lease)
    else:
        remove_idle(os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)), path)
