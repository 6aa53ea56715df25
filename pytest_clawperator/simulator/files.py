"""The files of a simulated phone, kept in memory."""

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


DENIED = "Permission denied"

EXISTS = "File exists"

FULL = "No space left on device"

INVALID = "Invalid argument"

IS_DIRECTORY = "Is a directory"

LOOP = "Too many symbolic links encountered"

MISSING = "No such file or directory"

NAME_TOO_LONG = "File name too long"

NOT_DIRECTORY = "Not a directory"

READ_ONLY = "Read-only file system"

_MAX_HOPS = 40

_MAX_NAME = 255

_MAX_PATH = 4096

# All files are those of the shell's user.
_READABLE, _WRITABLE_BIT = 0o400, 0o200


# As on a phone: the system image cannot be changed, the data and storage parts can.
_WRITABLE = ("/data", "/storage", "/mnt", "/dev")

_FOLDERS = (
    "/data/app",
    "/data/data",
    "/data/local/tmp",
    "/dev",
    "/mnt",
    "/proc",
    "/product",
    "/storage/emulated/0/Alarms",
    "/storage/emulated/0/Android/data",
    "/storage/emulated/0/DCIM",
    "/storage/emulated/0/Documents",
    "/storage/emulated/0/Download",
    "/storage/emulated/0/Movies",
    "/storage/emulated/0/Music",
    "/storage/emulated/0/Pictures",
    "/storage/self",
    "/system/app",
    "/system/bin",
    "/system/etc",
    "/vendor",
)

_LINKS = {
    "/bin": "/system/bin",
    "/etc": "/system/etc",
    "/sdcard": "/storage/emulated/0",
    "/mnt/sdcard": "/storage/self/primary",
    "/storage/self/primary": "/storage/emulated/0",
}


class FileSystemError(Exception):
    """A file operation failed; ``reason`` is the text a shell prints for it."""

    def __init__(self, path: str, *, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True)
class _Place:
    """Where a path leads: its names, and the node there, if any."""

    names: tuple[str, ...]
    parent: Folder | None
    node: Node | None

    @property
    def path(self) -> str:
        return "/" + "/".join(self.names)


class FileSystem:
    """Folders, files and links of one device; paths are absolute and may end in a slash.

    ``/data``, ``/storage`` (where ``/sdcard`` leads), ``/mnt`` and ``/dev`` can be written;
    everything else belongs to the system image, and only ``provide`` puts something there.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        is_full: Callable[[], bool] = lambda: False,
        capacity_bytes: int = 512 * 1024 * 1024,
    ) -> None:
        self.capacity_bytes = capacity_bytes
        self.used_bytes = 0
        self._clock = clock
        self._is_full = is_full
        self._root = Folder(self._now())
        for path in _FOLDERS:
            self._make_folders(path)
        for path, target in _LINKS.items():
            folder, _, name = path.rpartition("/")
            self._folder(folder or "/").entries[name] = Link(self._now(), target)
        for name, make in DEVICES.items():
            self._folder("/dev").entries[name] = Special(self._now(), make)

    @property
    def free_bytes(self) -> int:
        """How much can still be written."""
        return 0 if self._is_full() else max(0, self.capacity_bytes - self.used_bytes)

    def resolve(self, path: str, cwd: str = "/") -> str:
        """Return the absolute path without ``.``, ``..`` and links; it need not exist."""
        joined = path if path.startswith("/") else f"{cwd}/{path}"
        return self._walk(joined, lenient=True).path

    def stat(self, path: str) -> Stat:
        """Describe what is at ``path``, following links."""
        return describe(self._existing(path))

    def lstat(self, path: str) -> Stat:
        """Describe what is at ``path``, a link as itself."""
        return describe(self._existing(path, follow=False))

    def readlink(self, path: str) -> str:
        """Return the target of the link at ``path``."""
        node = self._existing(path, follow=False)
        if not isinstance(node, Link):
            raise FileSystemError(path, reason=INVALID)
        return node.target

    def exists(self, path: str) -> bool:
        """Whether there is something at ``path``."""
        try:
            self._existing(path)
        except FileSystemError:
            return False
        return True

    def is_dir(self, path: str) -> bool:
        """Whether ``path`` is a folder."""
        try:
            return isinstance(self._existing(path), Folder)
        except FileSystemError:
            return False

    def read(self, path: str, *, as_root: bool = False) -> bytes:
        """Return the whole content of a file that may be read; of a device, nothing."""
        node = self._existing(path)
        if isinstance(node, Folder):
            raise FileSystemError(path, reason=IS_DIRECTORY)
        if isinstance(node, Produced):
            return node.make().encode()
        if not isinstance(node, File):
            return b""
        if not (as_root or node.mode & _READABLE):
            raise FileSystemError(path, reason=DENIED)
        return bytes(node.data)

    def endless(self, path: str) -> Callable[[int], bytes] | None:
        """Return what makes the bytes of a device that never ends; None for anything else."""
        node = self._existing(path)
        return node.make if isinstance(node, Special) else None

    def listdir(self, path: str) -> list[str]:
        """Return the sorted names inside a folder."""
        return sorted(self._folder(path).entries)

    def check_writable(self, path: str) -> None:
        """Raise what writing a file at ``path`` would raise, without writing."""
        self._place_for_file(path, growth=0, replacing=False)

    def write(self, path: str, data: bytes, *, mode: int = 0o644, mtime: int | None = None) -> None:
        """Create or replace a file; its folder must exist."""
        node = self._file_to_write(path, growth=len(data), replacing=True)
        if node is None:
            return
        self.used_bytes += len(data) - len(node.data)
        node.data = bytearray(data)
        node.mode = mode & 0o7777
        node.mtime = self._now() if mtime is None else mtime

    def append(self, path: str, data: bytes) -> None:
        """Add to the end of a file, which is made if it is missing."""
        node = self._file_to_write(path, growth=len(data), replacing=False)
        if node is None:
            return
        self.used_bytes += len(data)
        node.data += data
        node.mtime = self._now()

    def touch(self, path: str, *, mtime: int | None = None) -> None:
        """Set the time of a file or folder, making an empty file if there is nothing."""
        place = self._walk(path)
        if place.node is None:
            self.write(path, b"", mtime=mtime)
            return
        self._require_writable(path, place)
        place.node.mtime = self._now() if mtime is None else mtime

    def chmod(self, path: str, mode: int) -> None:
        """Set the permission bits of a file or folder; only those of files have an effect."""
        place = self._walk(path)
        if place.node is None:
            raise FileSystemError(path, reason=MISSING)
        self._require_writable(path, place)
        if isinstance(place.node, File | Folder):
            place.node.mode = mode & 0o7777

    def mkdir(self, path: str, *, parents: bool = False) -> None:
        """Make a folder; with ``parents`` also those above it, and it may already exist."""
        place = self._walk(path.rstrip("/") or path, lenient=parents)
        if place.node is not None:
            if parents and isinstance(place.node, Folder):
                return
            raise FileSystemError(path, reason=EXISTS)
        for name in place.names:
            _require_name(path, name)
        self._require_writable(path, place)
        if self._is_full():
            raise FileSystemError(path, reason=FULL)
        self._make_folders(place.path)

    def symlink(self, path: str, target: str) -> None:
        """Make a link at ``path`` that leads to ``target``."""
        if not target or len(target) > _MAX_PATH:
            raise FileSystemError(path, reason=NAME_TOO_LONG if target else MISSING)
        place = self._walk(path, follow=False)
        self._add(path, place, Link(self._now(), target))

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file or link; a folder only with ``recursive``, then with all it holds."""
        place = self._walk(path, follow=False)
        if isinstance(place.node, Folder) and not recursive:
            raise FileSystemError(path, reason=IS_DIRECTORY)
        if place.node is None:
            raise FileSystemError(path, reason=MISSING)
        if place.parent is None or len(place.names) < 2:
            raise FileSystemError(path, reason=READ_ONLY if not place.names else DENIED)
        self._require_writable(path, place)
        del place.parent.entries[place.names[-1]]
        place.parent.mtime = self._now()
        self.used_bytes -= weight(place.node)

    def provide(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Put a file anywhere, also where only the system image has files."""
        folder, _, name = self.resolve(path).rpartition("/")
        self._make_folders(folder)
        self._folder(folder or "/").entries[name] = File(
            mode & 0o7777, self._now(), bytearray(data)
        )
        self.used_bytes += len(data)

    def provide_produced(self, path: str, make: Callable[[], str]) -> None:
        """Put a file there that is made anew whenever it is read, as those in ``/proc`` are."""
        folder, _, name = path.rpartition("/")
        self._make_folders(folder)
        self._folder(folder).entries[name] = Produced(self._now(), make)

    def _now(self) -> int:
        return int(self._clock())

    def _walk(self, path: str, *, follow: bool = True, lenient: bool = False) -> _Place:
        if len(path) > _MAX_PATH:
            raise FileSystemError(path[:60] + "...", reason=NAME_TOO_LONG)
        if not path:
            raise FileSystemError(path, reason=MISSING)
        names: list[str] = []
        nodes: list[Node | None] = [self._root]
        pending = path.split("/")[::-1]
        hops = 0
        while pending:
            name = pending.pop()
            here = nodes[-1]
            if not isinstance(here, Folder) and not lenient:
                raise FileSystemError(path, reason=MISSING if here is None else NOT_DIRECTORY)
            if name in ("", "."):
                continue
            if name == "..":
                if names:
                    del names[-1], nodes[-1]
                continue
            node = here.entries.get(name) if isinstance(here, Folder) else None
            if isinstance(node, Link) and (follow or pending):
                hops += 1
                if hops > _MAX_HOPS:
                    raise FileSystemError(path, reason=LOOP)
                if node.target.startswith("/"):
                    names, nodes = [], [self._root]
                pending.extend(node.target.split("/")[::-1])
                continue
            names.append(name)
            nodes.append(node)
        parent = nodes[-2] if len(nodes) > 1 else None
        return _Place(tuple(names), parent if isinstance(parent, Folder) else None, nodes[-1])

    def _existing(self, path: str, *, follow: bool = True) -> Node:
        node = self._walk(path, follow=follow).node
        if node is None:
            raise FileSystemError(path, reason=MISSING)
        return node

    def _folder(self, path: str) -> Folder:
        node = self._existing(path)
        if not isinstance(node, Folder):
            raise FileSystemError(path, reason=NOT_DIRECTORY)
        return node

    def _make_folders(self, path: str) -> None:
        here = self._root
        for name in filter(None, path.split("/")):
            if name not in here.entries:
                here.entries[name] = Folder(self._now())
                here.mtime = self._now()
            child = here.entries[name]
            if not isinstance(child, Folder):
                raise FileSystemError(path, reason=NOT_DIRECTORY)
            here = child

    def _file_to_write(self, path: str, *, growth: int, replacing: bool) -> File | None:
        """Return the file to write to; None for a device."""
        place = self._place_for_file(path, growth=growth, replacing=replacing)
        if isinstance(place.node, File):
            return place.node
        if place.node is not None:
            return None
        made = File(0o644, self._now(), bytearray())
        self._add(path, place, made)
        return made

    def _place_for_file(self, path: str, *, growth: int, replacing: bool) -> _Place:
        place = self._walk(path)
        node = place.node
        if isinstance(node, Folder):
            raise FileSystemError(path, reason=IS_DIRECTORY)
        if isinstance(node, Special):
            return place
        if isinstance(node, File) and not node.mode & _WRITABLE_BIT:
            raise FileSystemError(path, reason=DENIED)
        if node is None:
            self._require_room(path, place)
        self._require_writable(path, place)
        released = len(node.data) if replacing and isinstance(node, File) else 0
        if growth > self.free_bytes + released or (growth and self._is_full()):
            raise FileSystemError(path, reason=FULL)
        return place

    def _add(self, path: str, place: _Place, node: Node) -> None:
        if place.node is not None:
            raise FileSystemError(path, reason=EXISTS)
        self._require_room(path, place)
        assert place.parent is not None
        place.parent.entries[place.names[-1]] = node
        place.parent.mtime = self._now()

    def _require_room(self, path: str, place: _Place) -> None:
        _require_name(path, place.names[-1])
        self._require_writable(path, place)
        if self._is_full():
            raise FileSystemError(path, reason=FULL)

    def _require_writable(self, path: str, place: _Place) -> None:
        if not f"{place.path}/".startswith(tuple(f"{part}/" for part in _WRITABLE)):
            raise FileSystemError(path, reason=READ_ONLY)


def _require_name(path: str, name: str) -> None:
    try:
        length = len(name.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise FileSystemError(path, reason=INVALID) from None
    if "\0" in name:
        raise FileSystemError(path, reason=INVALID)
    if length > _MAX_NAME:
        raise FileSystemError(path, reason=NAME_TOO_LONG)
