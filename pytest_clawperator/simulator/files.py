"""The files of a simulated phone, kept in memory: no owners, permissions or links."""

from __future__ import annotations

import stat as modes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

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
_STORAGE = "/storage/emulated/0"
# Other names of folders; on a phone, these are links.
_ALIASES = {
    "/bin": "/system/bin",
    "/etc": "/system/etc",
    "/sdcard": _STORAGE,
    "/mnt/sdcard": _STORAGE,
    "/storage/self/primary": _STORAGE,
}
_NULL = "/dev/null"
_FIXED = ("/", "/data", "/dev", "/mnt", "/storage", "/storage/emulated", _STORAGE, _NULL)


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


@dataclass
class _Node:
    """A file with its content, or a folder, which has none."""

    mtime: int
    data: bytearray | None = None


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
        self._clock = clock
        self._is_full = is_full
        self._nodes: dict[str, _Node] = {}
        self.reset()

    def reset(self) -> None:
        """Replace everything by the folders of a new phone."""
        self._nodes = {"/": _Node(self._now())}
        for path in _FOLDERS:
            self._make_folders(path)
        self.provide(_NULL, b"")

    @property
    def used_bytes(self) -> int:
        """How much the files take."""
        return sum(len(node.data) for node in self._nodes.values() if node.data)

    @property
    def free_bytes(self) -> int:
        """How much can still be written."""
        return 0 if self._is_full() else max(0, self.capacity_bytes - self.used_bytes)

    def resolve(self, path: str, cwd: str = "/") -> str:
        """Return the absolute path without ``.``, ``..`` and aliases; it need not exist."""
        if len(path) > _MAX_PATH:
            raise FileSystemError(path[:60] + "...", reason=NAME_TOO_LONG)
        here = ""
        for name in (path if path.startswith("/") else f"{cwd}/{path}").split("/"):
            if name == "..":
                here = here.rpartition("/")[0]
            elif name not in ("", "."):
                here = _ALIASES.get(f"{here}/{name}", f"{here}/{name}")
        return here or "/"

    def stat(self, path: str) -> Stat:
        """Describe what is at ``path``."""
        node = self._existing(path)
        if node.data is None:
            return Stat(_FOLDER_MODE, _FOLDER_SIZE, node.mtime)
        return Stat(_FILE_MODE, len(node.data), node.mtime)

    def exists(self, path: str) -> bool:
        """Whether there is something at ``path``."""
        try:
            return self._find(path)[1] is not None
        except FileSystemError:
            return False

    def is_dir(self, path: str) -> bool:
        """Whether ``path`` is a folder."""
        return self.exists(path) and self._existing(path).data is None

    def read(self, path: str) -> bytes:
        """Return the whole content of a file."""
        data = self._existing(path).data
        if data is None:
            raise FileSystemError(path, reason=IS_DIRECTORY)
        return bytes(data)

    def listdir(self, path: str) -> list[str]:
        """Return the sorted names inside a folder."""
        if self._existing(path).data is not None:
            raise FileSystemError(path, reason=NOT_DIRECTORY)
        folder = self.resolve(path).rstrip("/") + "/"
        inside = (name.removeprefix(folder) for name in self._nodes if name.startswith(folder))
        return sorted(name for name in inside if name and "/" not in name)

    def check_writable(self, path: str) -> None:
        """Raise what writing a file at ``path`` would raise, without writing."""
        self._place_for_file(path, growth=0, replacing=False)

    def write(self, path: str, data: bytes, *, mtime: int | None = None) -> None:
        """Create or replace a file; its folder must exist."""
        self._put(path, data, mtime=mtime, replacing=True)

    def append(self, path: str, data: bytes) -> None:
        """Add to the end of a file, which is made if it is missing."""
        self._put(path, data, mtime=None, replacing=False)

    def touch(self, path: str) -> None:
        """Set the time of a file or folder to now, making an empty file if there is nothing."""
        real, node = self._find(path)
        if node is None:
            self.write(path, b"")
            return
        _require_writable(path, real)
        node.mtime = self._now()

    def mkdir(self, path: str, *, parents: bool = False) -> None:
        """Make a folder; with ``parents`` also those above it, and it may already exist."""
        real, node = self._find(path.rstrip("/") or path, lenient=parents)
        if node is not None:
            if parents and node.data is None:
                return
            raise FileSystemError(path, reason=EXISTS)
        for name in real.split("/"):
            _require_name(path, name)
        _require_writable(path, real)
        if self._is_full():
            raise FileSystemError(path, reason=FULL)
        self._make_folders(real)

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file; a folder only with ``recursive``, then with all it holds."""
        real, node = self._find(path)
        if node is not None and node.data is None and not recursive:
            raise FileSystemError(path, reason=IS_DIRECTORY)
        if node is None:
            raise FileSystemError(path, reason=MISSING)
        _require_writable(path, real)
        if real in _FIXED:
            raise FileSystemError(path, reason=DENIED)
        for name in [name for name in self._nodes if f"{name}/".startswith(f"{real}/")]:
            del self._nodes[name]

    def provide(self, path: str, data: bytes) -> None:
        """Put a file anywhere, also where only the system image has files."""
        real = self.resolve(path)
        self._make_folders(real.rpartition("/")[0])
        self._nodes[real] = _Node(self._now(), bytearray(data))

    def _now(self) -> int:
        return int(self._clock())

    def _find(self, path: str, *, lenient: bool = False) -> tuple[str, _Node | None]:
        """Return a real path and what is there; unless ``lenient``, its folder must exist."""
        if not path:
            raise FileSystemError(path, reason=MISSING)
        real = self.resolve(path)
        above = [str(folder) for folder in reversed(PurePosixPath(real).parents)]
        for folder in [*above, real] if path.endswith("/") else above:
            node = self._nodes.get(folder)
            if not lenient and (node is None or node.data is not None):
                raise FileSystemError(path, reason=NOT_DIRECTORY if node else MISSING)
        return real, self._nodes.get(real)

    def _existing(self, path: str) -> _Node:
        node = self._find(path)[1]
        if node is None:
            raise FileSystemError(path, reason=MISSING)
        return node

    def _make_folders(self, path: str) -> None:
        here = ""
        for name in filter(None, path.split("/")):
            here += f"/{name}"
            if self._nodes.setdefault(here, _Node(self._now())).data is not None:
                raise FileSystemError(path, reason=NOT_DIRECTORY)

    def _put(self, path: str, data: bytes, *, mtime: int | None, replacing: bool) -> None:
        real = self._place_for_file(path, growth=len(data), replacing=replacing)
        if real == _NULL:
            return
        node = self._nodes.setdefault(real, _Node(0, bytearray()))
        assert node.data is not None
        node.data[0 if replacing else len(node.data) :] = data
        node.mtime = self._now() if mtime is None else mtime

    def _place_for_file(self, path: str, *, growth: int, replacing: bool) -> str:
        real, node = self._find(path)
        if node is not None and node.data is None:
            raise FileSystemError(path, reason=IS_DIRECTORY)
        if real == _NULL:
            return real
        if node is None:
            _require_name(path, real.rpartition("/")[2])
        _require_writable(path, real)
        released = len(node.data) if replacing and node and node.data else 0
        is_full = self._is_full() and (growth or node is None)
        if is_full or growth > self.free_bytes + released:
            raise FileSystemError(path, reason=FULL)
        return real


def _require_writable(path: str, real: str) -> None:
    if not f"{real}/".startswith(_WRITABLE):
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
