"""The files of a simulated phone, kept in memory: no owners, permissions or links."""

from __future__ import annotations

import stat as modes
from collections.abc import Callable
from dataclasses import dataclass, field

DENIED = "Permission denied"
EXISTS = "File exists"
FULL = "No space left on device"
INVALID = "Invalid argument"
IS_DIRECTORY = "Is a directory"
MISSING = "No such file or directory"
NAME_TOO_LONG = "File name too long"
NOT_DIRECTORY = "Not a directory"
READ_ONLY = "Read-only file system"
_MAX_NAME = 255
_MAX_PATH = 4096
_FILE_MODE = modes.S_IFREG | 0o644
_FOLDER_MODE = modes.S_IFDIR | 0o771
_FOLDER_SIZE = 4096

# As on a phone: the system image cannot be changed, the data and storage parts can.
_WRITABLE = ("/data/", "/storage/", "/mnt/", "/dev/")
_FOLDERS = (
    "/data/app",
    "/data/data",
    "/data/local/tmp",
    "/mnt",
    "/proc",
    "/storage/emulated/0/Android/data",
    "/storage/emulated/0/DCIM",
    "/storage/emulated/0/Documents",
    "/storage/emulated/0/Download",
    "/storage/emulated/0/Movies",
    "/storage/emulated/0/Music",
    "/storage/emulated/0/Pictures",
    "/system/app",
    "/system/bin",
    "/system/etc",
    "/vendor",
)
_STORAGE = ("storage", "emulated", "0")
# Other names of folders; on a phone, these are links.
_ALIASES = {
    ("bin",): ("system", "bin"),
    ("etc",): ("system", "etc"),
    ("sdcard",): _STORAGE,
    ("mnt", "sdcard"): _STORAGE,
    ("storage", "self", "primary"): _STORAGE,
}
_NULL = ("dev", "null")


class FileSystemError(Exception):
    """A file operation failed; ``reason`` is the text a shell prints for it."""

    def __init__(self, path: str, *, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True)
class Stat:
    """What is known of a file without reading it; ``mode`` holds the type bits too."""

    mode: int
    size: int
    mtime: int


@dataclass(eq=False)
class _File:
    """A file with its content, or with what makes it whenever it is read."""

    mtime: int
    data: bytearray = field(default_factory=bytearray)
    make: Callable[[], str] | None = None


@dataclass(eq=False)
class _Folder:
    """A folder with what is in it, by name."""

    mtime: int
    entries: dict[str, _File | _Folder] = field(default_factory=dict)


@dataclass(frozen=True)
class _Place:
    """Where a path leads: its names, and the node there, if any."""

    names: tuple[str, ...]
    parent: _Folder | None
    node: _File | _Folder | None

    @property
    def path(self) -> str:
        return "/" + "/".join(self.names)


class FileSystem:
    """Folders and files of one device; paths are absolute and may end in a slash.

    ``/data``, ``/storage`` (where ``/sdcard`` is), ``/mnt`` and ``/dev`` can be written;
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
        self._root = _Folder(self._now())
        for path in _FOLDERS:
            self._make_folders(path)
        self.provide("/dev/null", b"")

    @property
    def free_bytes(self) -> int:
        """How much can still be written."""
        return 0 if self._is_full() else max(0, self.capacity_bytes - self.used_bytes)

    # Looking

    def resolve(self, path: str, cwd: str = "/") -> str:
        """Return the absolute path without ``.``, ``..`` and aliases; it need not exist."""
        joined = path if path.startswith("/") else f"{cwd}/{path}"
        return self._walk(joined, lenient=True).path

    def stat(self, path: str) -> Stat:
        """Describe what is at ``path``."""
        node = self._existing(path)
        if isinstance(node, _File):
            return Stat(_FILE_MODE, len(node.data), node.mtime)
        return Stat(_FOLDER_MODE, _FOLDER_SIZE, node.mtime)

    def exists(self, path: str) -> bool:
        """Whether there is something at ``path``."""
        try:
            return self._walk(path).node is not None
        except FileSystemError:
            return False

    def is_dir(self, path: str) -> bool:
        """Whether ``path`` is a folder."""
        try:
            return isinstance(self._walk(path).node, _Folder)
        except FileSystemError:
            return False

    def read(self, path: str) -> bytes:
        """Return the whole content of a file."""
        node = self._existing(path)
        if isinstance(node, _Folder):
            raise FileSystemError(path, reason=IS_DIRECTORY)
        return node.make().encode() if node.make else bytes(node.data)

    def listdir(self, path: str) -> list[str]:
        """Return the sorted names inside a folder."""
        node = self._existing(path)
        if isinstance(node, _File):
            raise FileSystemError(path, reason=NOT_DIRECTORY)
        return sorted(node.entries)

    # Changing

    def check_writable(self, path: str) -> None:
        """Raise what writing a file at ``path`` would raise, without writing."""
        self._place_for_file(path, growth=0, replacing=False)

    def write(self, path: str, data: bytes, *, mtime: int | None = None) -> None:
        """Create or replace a file; its folder must exist."""
        self._put(path, data, mtime=mtime, replacing=True)

    def append(self, path: str, data: bytes) -> None:
        """Add to the end of a file, which is made if it is missing."""
        self._put(path, data, mtime=None, replacing=False)

    def touch(self, path: str, *, mtime: int | None = None) -> None:
        """Set the time of a file or folder, making an empty file if there is nothing."""
        place = self._walk(path)
        if place.node is None:
            self.write(path, b"", mtime=mtime)
            return
        _require_writable(path, place)
        place.node.mtime = self._now() if mtime is None else mtime

    def mkdir(self, path: str, *, parents: bool = False) -> None:
        """Make a folder; with ``parents`` also those above it, and it may already exist."""
        place = self._walk(path.rstrip("/") or path, lenient=parents)
        if place.node is not None:
            if parents and isinstance(place.node, _Folder):
                return
            raise FileSystemError(path, reason=EXISTS)
        for name in place.names:
            _require_name(path, name)
        _require_writable(path, place)
        if self._is_full():
            raise FileSystemError(path, reason=FULL)
        self._make_folders(place.path)

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file; a folder only with ``recursive``, then with all it holds."""
        place = self._walk(path)
        if isinstance(place.node, _Folder) and not recursive:
            raise FileSystemError(path, reason=IS_DIRECTORY)
        if place.node is None:
            raise FileSystemError(path, reason=MISSING)
        _require_writable(path, place)
        is_fixed = len(place.names) < 2 or place.names in (_NULL, _STORAGE, _STORAGE[:2])
        if is_fixed or place.parent is None:
            raise FileSystemError(path, reason=DENIED)
        del place.parent.entries[place.names[-1]]
        place.parent.mtime = self._now()
        self.used_bytes -= _weight(place.node)

    def provide(self, path: str, data: bytes) -> None:
        """Put a file anywhere, also where only the system image has files."""
        self._provide(path, _File(self._now(), bytearray(data)))

    def _now(self) -> int:
        return int(self._clock())

    def _walk(self, path: str, *, lenient: bool = False) -> _Place:
        """Follow a path; unless ``lenient``, all but its last name must be folders."""
        if len(path) > _MAX_PATH:
            raise FileSystemError(path[:60] + "...", reason=NAME_TOO_LONG)
        if not path:
            raise FileSystemError(path, reason=MISSING)
        names: tuple[str, ...] = ()
        for name in path.split("/"):
            if name == "..":
                names = names[:-1]
            elif name not in ("", "."):
                names = (*names, name)
                names = _ALIASES.get(names, names)
        nodes: list[_File | _Folder | None] = [self._root]
        for name in [*names, *([""] if names and path.endswith("/") else [])]:
            here = nodes[-1]
            if not isinstance(here, _Folder) and not lenient:
                raise FileSystemError(path, reason=NOT_DIRECTORY if here else MISSING)
            if name:
                nodes.append(here.entries.get(name) if isinstance(here, _Folder) else None)
        parent = nodes[-2] if len(nodes) > 1 else None
        return _Place(names, parent if isinstance(parent, _Folder) else None, nodes[-1])

    def _existing(self, path: str) -> _File | _Folder:
        node = self._walk(path).node
        if node is None:
            raise FileSystemError(path, reason=MISSING)
        return node

    def _make_folders(self, path: str) -> _Folder:
        here = self._root
        for name in filter(None, path.split("/")):
            if name not in here.entries:
                here.entries[name] = _Folder(self._now())
                here.mtime = self._now()
            child = here.entries[name]
            if not isinstance(child, _Folder):
                raise FileSystemError(path, reason=NOT_DIRECTORY)
            here = child
        return here

    def _provide(self, path: str, file: _File) -> None:
        folder, _, name = self.resolve(path).rpartition("/")
        entries = self._make_folders(folder).entries
        replaced = entries.get(name)
        entries[name] = file
        self.used_bytes += len(file.data) - (_weight(replaced) if replaced else 0)

    def _put(self, path: str, data: bytes, *, mtime: int | None, replacing: bool) -> None:
        place = self._place_for_file(path, growth=len(data), replacing=replacing)
        if place.names == _NULL:
            return
        node = place.node
        if node is None:
            assert place.parent is not None
            node = place.parent.entries[place.names[-1]] = _File(0)
            place.parent.mtime = self._now()
        assert isinstance(node, _File)
        before = len(node.data)
        if replacing:
            node.data = bytearray(data)
        else:
            node.data += data
        self.used_bytes += len(node.data) - before
        node.mtime = self._now() if mtime is None else mtime

    def _place_for_file(self, path: str, *, growth: int, replacing: bool) -> _Place:
        place = self._walk(path)
        node = place.node
        if isinstance(node, _Folder):
            raise FileSystemError(path, reason=IS_DIRECTORY)
        if place.names == _NULL:
            return place
        if node is None:
            _require_name(path, place.names[-1])
        _require_writable(path, place)
        released = len(node.data) if replacing and node else 0
        is_full = self._is_full() and (growth or node is None)
        if is_full or growth > self.free_bytes + released:
            raise FileSystemError(path, reason=FULL)
        return place


def _weight(node: _File | _Folder) -> int:
    """Return how many bytes a node takes, with all that is in it."""
    total = 0
    pending = [node]
    while pending:
        here = pending.pop()
        if isinstance(here, _Folder):
            pending.extend(here.entries.values())
        else:
            total += len(here.data)
    return total


def _require_writable(path: str, place: _Place) -> None:
    if not f"{place.path}/".startswith(_WRITABLE):
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
