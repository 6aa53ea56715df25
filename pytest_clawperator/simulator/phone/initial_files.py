"""Setting the files of a phone back to those of a new one."""

from __future__ import annotations

from pytest_clawperator.simulator.files import FileSystem


def clean_files(files: FileSystem) -> None:
    """Set the files back to those of a new phone, for the shells that have them open too."""
    new = FileSystem(clock=lambda: 0.0)
    for folder in ("/data", "/storage/emulated/0"):
        _clean(files, folder, new)


def _clean(files: FileSystem, folder: str, new: FileSystem) -> None:
    for name in files.listdir(folder):
        path = f"{folder}/{name}"
        if not (files.is_dir(path) and new.is_dir(path)):
            files.remove(path, recursive=True)
    for name in new.listdir(folder):
        path = f"{folder}/{name}"
        if not files.exists(path):
            files.mkdir(path)
        _clean(files, path, new)
