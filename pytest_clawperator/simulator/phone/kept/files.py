"""The files of a phone in a form that can be stored: all that can be written to."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_clawperator.simulator.files import FileSystem

# What outlives a restart.
_PARTS = ("/data", "/storage/emulated/0")


def kept_files(files: FileSystem) -> list[dict[str, Any]]:
    """Return folders and files, each folder before what it holds."""
    return [entry for part in _PARTS for entry in _kept_inside(files, part)]


def bring_back_files(files: FileSystem, kept: Sequence[dict[str, Any]]) -> None:
    """Replace everything that can be written to by what was kept."""
    for part in _PARTS:
        for name in files.listdir(part):
            files.remove(f"{part}/{name}", recursive=True)
    for entry in kept:
        path = entry["path"]
        if "data" in entry:
            files.write(path, base64.b64decode(entry["data"]), mtime=entry["mtime"])
        else:
            files.mkdir(path)


def _kept_inside(files: FileSystem, folder: str) -> Iterator[dict[str, Any]]:
    for name in files.listdir(folder):
        path = f"{folder}/{name}"
        if files.is_dir(path):
            yield {"path": path}
            yield from _kept_inside(files, path)
        else:
            data = base64.b64encode(files.read(path)).decode()
            yield {"path": path, "data": data, "mtime": files.stat(path).mtime}
