"""Wildcards in file names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import translate

from pytest_clawperator.simulator.filesystem import FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.streams import TextTooLong

Piece = tuple[str, bool]
"""Some characters, and whether they were quoted."""

_MAX_NAMES = 4096
_MAX_PATTERN = 255  # the longest name a file can have


def is_wild(pieces: Sequence[Piece]) -> bool:
    """Whether a word has unquoted wildcards."""
    plain = "".join(text for text, quoted in pieces if not quoted)
    return "*" in plain or "?" in plain or -1 < plain.find("[") < plain.rfind("]")


def expand_files(pieces: Sequence[Piece], *, files: FileSystem, cwd: str) -> list[str]:
    """Return the existing paths that a word with wildcards matches, sorted."""
    found = [""]
    for number, component in enumerate(_components(pieces)):
        separator = "/" if number else ""
        if not is_wild(component):
            name = separator + "".join(text for text, _ in component)
            found = [path + name for path in found]
            continue
        matches = _matcher(component)
        hidden = component[0][0].startswith(".")
        found = [
            path + separator + name
            for path in found
            for name in _names(files, cwd, path + separator)
            if (hidden or not name.startswith(".")) and matches.match(name)
        ]
        if len(found) > _MAX_NAMES:
            raise TextTooLong
    return sorted(path for path in found if path and _exists(files, cwd, path))


def _components(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yield the pieces of each part of a path."""
    component: list[Piece] = []
    for text, quoted in pieces:
        first, *others = text.split("/")
        component.append((first, quoted))
        for other in others:
            yield component
            component = [(other, quoted)]
    yield component


def _matcher(component: Sequence[Piece]) -> re.Pattern[str]:
    pattern = "".join(
        re.sub(r"([*?[])", r"[\1]", text) if quoted else text for text, quoted in component
    )
    # A longer pattern without stars matches no name; one with many would take long to try.
    if len(pattern) > 4 * _MAX_PATTERN:
        return re.compile(r"(?!)")
    try:
        return re.compile(translate(pattern))
    except re.error:
        return re.compile(re.escape(pattern) + r"\Z")


def _names(files: FileSystem, cwd: str, folder: str) -> list[str]:
    try:
        return files.listdir(files.resolve(folder or ".", cwd))
    except FileSystemError:
        return []


def _exists(files: FileSystem, cwd: str, path: str) -> bool:
    try:
        found = files.resolve(path, cwd)
        return files.is_dir(found) if path.endswith("/") else files.exists(found)
    except FileSystemError:
        return False
