"""The files of a phone in a form that can be stored: all that can be written to."""

from __future__ import annotations

import base64
import stat
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_clawperator.simulator.files import FileSystem

# What outlives a restart.
_PARTS = ("/data", "/storage", "/mnt")


def kept_files(files: FileSystem) -> list[dict[str, Any]]:
    """Return folders, links and files, each folder before what it holds."""
    return [entry for part in _PARTS for entry in _kept_inside(files, part)]


def bring_back_files(files: FileSystem, kept: Sequence[dict[str, Any]]) -> None:
    """Replace everything that can be written to by what was kept."""
    for part in _PARTS:
        for name in files.listdir(part):
            files.remove(f"{part}/{name}", recursive=True)
    for entry in kept:
        path = entry["path"]
        if "link" in entry:
            files.symlink(path, entry["link"])
        elif "data" in entry:
            data = base64.b64decode(entry["data"])
            files.write(path, data, mode=entry["mode"], mtime=entry["mtime"])
        else:
            files.mkdir(path)
            files.chmod(path, entry["mode"])


def _kept_inside(files: FileSystem, folder: str) -> Iterator[dict[str, Any]]:
    for name in files.listdir(folder):
        path = f"{folder}/{name}"
        found = files.lstat(path)
        mode = stat.S_IMODE(found.mode)
        if stat.S_ISLNK(found.mode):
            yield {"path": path, "link": files.readlink(path)}
        elif stat.S_ISDIR(found.mode):
            yield {"path": path, "mode": mode}
            yield from _kept_inside(files, path)
        else:
            data = base64.b64encode(files.read(path, as_root=True)).decode()
            yield {"path": path, "data": data, "mode": mode, "mtime": found.mtime}
