"""What there is in a file system: files, folders, links, devices, and files made when read."""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_FOLDER_SIZE = 4096

DEVICES: Mapping[str, Callable[[int], bytes] | None] = {
    "null": None,
    "zero": bytes,
    "random": os.urandom,
    "urandom": os.urandom,
}
"""What is in ``/dev``: how so many bytes are read from each, if there are any."""


@dataclass(frozen=True)
class Stat:
    """What is known of a file without reading it; ``mode`` holds the type bits too."""

    mode: int
    size: int
    mtime: int


@dataclass(eq=False)
class File:
    """A file with its content."""

    mode: int
    mtime: int
    data: bytearray


@dataclass(eq=False)
class Folder:
    """A folder with what is in it, by name."""

    mtime: int
    mode: int = 0o771
    entries: dict[str, Node] = field(default_factory=dict)


@dataclass(eq=False)
class Link:
    """A symbolic link."""

    mtime: int
    target: str


@dataclass(eq=False)
class Special:
    """A device; without ``make`` nothing can be read from it."""

    mtime: int
    make: Callable[[int], bytes] | None


@dataclass(eq=False)
class Produced:
    """A file of the kernel's, whose content is made when it is read."""

    mtime: int
    make: Callable[[], str]


Node = File | Folder | Link | Special | Produced


def describe(node: Node) -> Stat:
    """Return what is known of a node."""
    if isinstance(node, File):
        return Stat(modes.S_IFREG | node.mode, len(node.data), node.mtime)
    if isinstance(node, Link):
        return Stat(modes.S_IFLNK | 0o777, len(node.target), node.mtime)
    if isinstance(node, Special):
        return Stat(modes.S_IFCHR | 0o666, 0, node.mtime)
    if isinstance(node, Produced):
        return Stat(modes.S_IFREG | 0o444, 0, node.mtime)
    return Stat(modes.S_IFDIR | node.mode, _FOLDER_SIZE, node.mtime)


def weight(node: Node) -> int:
    """Return how many bytes a node takes, with all that is in it."""
    total = 0
    pending = [node]
    while pending:
        here = pending.pop()
        if isinstance(here, Folder):
            pending.extend(here.entries.values())
        elif isinstance(here, File):
            total += len(here.data)
    return total
