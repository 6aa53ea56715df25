"""Lock files, and the folder that all users of a machine share for them.

Other users can write to the folder, so nothing in it is trusted: it must be a folder in which
users cannot replace each other's files, a lock file must be a plain file, and its contents may be
wrong. The lock is the operating system's: it ends with its process, and protects nothing once
another file is at its path.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from weakref import WeakSet

from pytest_clawperator.errors import ConfigurationError, ErrorCode

FOLDER_HINT = (
    "Set CLAWPERATOR_LEASE_DIR to a folder on a local disk, the same for all users of the"
    " devices: one that root made for all (install -d -m 1777 FOLDER), or your own if you"
    " alone use them."
)

_VARIABLE = "CLAWPERATOR_LEASE_DIR"
_PREFIX = "pytest-clawperator-"
_SHARED_MODE, _PRIVATE_MODE = 0o1777, 0o700
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ROOT = 0
_FOLDER_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


def lock_folder() -> Path:
    """Return the folder of the locks, which all users of the machine share.

    Without ``CLAWPERATOR_LEASE_DIR`` it is ``/tmp`` itself. A folder inside it would belong to
    the first user, who could replace the locks of all others; ``/tmp`` belongs to root.
    ``TMPDIR`` often differs between jobs, and two jobs must see each other's locks.
    """
    chosen = os.environ.get(_VARIABLE)
    return Path(chosen).absolute() if chosen else _temporary_folder()


def lock_path(key: str, kind: str, *, folder: Path | None = None) -> Path:
    """Return the path of a device's file of this kind; two keys never share one."""
    readable = re.sub(r"[^A-Za-z0-9.-]+", "_", key)[:60]
    digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return (folder or lock_folder()) / f"{_PREFIX}{readable}-{digest}.{kind}"


@contextmanager
def open_folder(path: Path, *, create: bool = False, private: bool = False) -> Iterator[int]:
    """Open the folder if it is safe, and yield its descriptor.

    A new one is for all users, or ``private``, for this user alone. Raise ``FileNotFoundError`` if
    it does not exist, or a new one was removed immediately, and ``ConfigurationError`` if it cannot
    be used.
    """
    is_new, mode = False, _PRIVATE_MODE if private else _SHARED_MODE
    try:
        descriptor = _opened_folder(path)
    except FileNotFoundError:
        if not create:
            raise
        is_new = _make(path, mode)
        descriptor = _opened_folder(path)
    try:
        _check_folder(path, os.fstat(descriptor))
        # The umask may have changed the mode. Only an empty folder can be the one just made.
        if is_new and not os.listdir(descriptor):  # noqa: PTH208 - a path may lead elsewhere
            os.fchmod(descriptor, mode)
        yield descriptor
    finally:
        os.close(descriptor)


def unusable_folder(path: Path, reason: str) -> ConfigurationError:
    """Return the error for a folder that cannot hold lock files."""
    return ConfigurationError(
        f"the folder of the lock files, {path}, {reason}",
        hint=FOLDER_HINT,
        details={"path": str(path)},
    )


@lru_cache(maxsize=1)
def _temporary_folder() -> Path:
    if os.name != "posix":
        return Path(tempfile.gettempdir())
    return Path("/tmp").resolve()  # noqa: S108 - shared on purpose; a link on macOS


def _make(path: Path, mode: int) -> bool:
    """Create the folder; return False if something of that name exists."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode)
    except FileExistsError:
        return False
    except OSError as exc:
        raise unusable_folder(path, f"cannot be made: {exc.strerror}") from exc
    return True


def _check_folder(path: Path, found: os.stat_result) -> None:
    """Raise if users other than root and this one can replace the files of others in the folder."""
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid not in (_ROOT, os.geteuid()):
        reason = f"belongs to user {found.st_uid}, who could replace the locks of all others"
    elif mode & _WRITABLE_BY_OTHERS and not mode & stat.S_ISVTX:
        reason = (
            f"has mode {mode:04o}: without the sticky bit (chmod +t), a user who can write to it"
            " could replace the locks of others"
        )
    else:
        return
    raise unusable_folder(path, reason)


def _opened_folder(path: Path) -> int:
    try:
        return os.open(path, _FOLDER_FLAGS)
    except FileNotFoundError:
        raise
    except OSError as exc:
        reason = f"cannot be opened: {exc.strerror}"
        if path.is_symlink():
            reason = "is a symbolic link, which may lead anywhere; name the folder itself"
        elif exc.errno == errno.ENOTDIR:
            reason = "is not a folder"
        raise unusable_folder(path, reason) from exc


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `require_flock` asks


# Do not follow links, do not block, and do not acquire a terminal.
_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_EVERYBODY = 0o666
# How often to try to open a file that others create and remove at the same time.
TRIES = 100
# Neither flock nor bind can wait until a deadline, so they are tried again and again.
_TRY_PAUSE = 0.001
# How long it takes at most until a new file is open to all users.
_CLOSED_FOR = 0.05
# How long a name may outlast its holder: in a child that is about to run another program.
_NAME_PATIENCE = 0.25

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class LockFile:
    """A lock file that this process has open; closing it ends the lock.

    A forked child has the object and not the file.
    """

    def __init__(self, path: Path, descriptor: int, found: os.stat_result) -> None:
        self.path = path
        self._descriptor: int | None = descriptor
        self._identity = found.st_dev, found.st_ino
        self._text = os.fspath(path)
        self._name: socket.socket | None = None
        _opened.add(self)

    @property
    def descriptor(self) -> int | None:
        """Its descriptor, while it is open: a process that inherits it has the lock, too."""
        return self._descriptor

    @property
    def is_open(self) -> bool:
        """Whether this process still has it open."""
        return self._descriptor is not None

    def lock(self, *, shared: bool = False, patience: float = 0.0) -> bool:
        """Lock the file, alone or with other readers; False if another process has it."""
        how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
        deadline = time.monotonic() + patience if patience else 0.0
        while True:
            try:
                fcntl.flock(self._open_descriptor, how)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(_TRY_PAUSE)
            except OSError as exc:
                raise unusable(self.path, exc) from exc
            else:
                return True

    def take_name(self) -> bool:
        """Take the name that goes with the path; False if another process has it.

        The name stays taken for as long as its holder lives, even if the file or the
        folder is removed. Only Linux has such names.
        """
        if not sys.platform.startswith("linux"):
            return True
        name = b"\0pytest-clawperator-" + sha256(os.fsencode(self._text)).digest()
        deadline = time.monotonic() + _NAME_PATIENCE
        while True:
            try:
                self._name = self._name or socket.socket(socket.AF_UNIX)
                self._name.bind(name)
            except OSError as exc:
                if exc.errno != errno.EADDRINUSE:
                    return True  # a sandbox may have no such names
                if time.monotonic() >= deadline:
                    return False
                time.sleep(_TRY_PAUSE)
            else:
                return True

    def stands(self) -> bool:
        """Whether the file is open, and still the one that others would open."""
        if self._descriptor is None:
            return False
        try:
            found = os.lstat(self._text)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def read(self, most: int) -> bytes:
        """Return the beginning of the contents."""
        return os.pread(self._open_descriptor, most, 0)

    def write(self, content: bytes) -> None:
        """Overwrite the beginning of the contents; raise ``OSError`` if that fails."""
        if os.pwrite(self._open_descriptor, content, 0) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def replace(self, content: bytes) -> None:
        """Replace the contents, whatever they are; raise ``OSError`` if that fails."""
        self.write(content)
        os.ftruncate(self._open_descriptor, len(content))

    def remove(self) -> None:
        """Remove the file, if it still stands and may be removed; it must be locked."""
        with suppress(OSError, ConfigurationError), open_folder(self.path.parent) as folder:
            if self.stands():
                os.unlink(self.path.name, dir_fd=folder)

    def discard(self) -> None:
        """Remove the file, and end the lock."""
        self.remove()
        self.close()

    def unlock(self) -> None:
        """End the lock; if an interrupt cut that short, a second call completes it.

        Closing would not do: a child that is about to run another program has the file, too.
        """
        try:
            if self._name is not None:
                self._name.close()
                self._name = None
        finally:
            if self._descriptor is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """End the lock and close the file; a second call changes nothing."""
        try:
            self.unlock()
        finally:
            self._close()

    def forget(self) -> None:
        """Close the file in a forked child, which leaves the lock to the parent."""
        try:
            if self._name is not None:
                self._name.close()
        finally:
            self._close()

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    @property
    def _open_descriptor(self) -> int:
        assert self._descriptor is not None, "it was closed"
        return self._descriptor


_opened: WeakSet[LockFile] = WeakSet()


def _forget_all() -> None:
    for file in list(_opened):
        file.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def require_flock() -> None:
    """Raise on a system without locks."""
    if fcntl is None:
        raise ConfigurationError(
            "this system has no flock, which keeps two processes off one device",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="Run the tests on Linux or macOS (WSL will do).",
        )


def open_lock_file(path: Path, *, private: bool = False) -> LockFile:
    """Open a lock file for reading and writing; create folder and file where they are missing.

    A new folder is for all users, or ``private``.
    """
    require_flock()
    for _ in range(TRIES):
        # The folder may be removed in between.
        with (
            suppress(FileNotFoundError),
            open_folder(path.parent, create=True, private=private) as folder,
        ):
            file = _found(path, folder, os.O_RDWR) or _created(path, folder)
            if file is not None:
                return file
        time.sleep(_TRY_PAUSE)
    raise never_stands(path)


def find_lock_file(path: Path) -> LockFile | None:
    """Open a lock file for reading; return None if there is none."""
    require_flock()
    try:
        with open_folder(path.parent) as folder:
            return _found(path, folder, os.O_RDONLY)
    except FileNotFoundError:
        return None


def lock_standing(path: Path, *, patience: float = 0.0, private: bool = False) -> LockFile | None:
    """Open a lock file and lock it; return None if another process has it."""
    for _ in range(TRIES):
        file = open_lock_file(path, private=private)
        try:
            is_locked = file.lock(patience=patience)
        except BaseException:
            file.close()
            raise
        stands = file.stands()
        if is_locked and stands:
            return file
        file.close()
        if stands:
            return None
        # Its last holder removed the file in between: the lock is on nothing.
    raise never_stands(path)


def never_stands(path: Path) -> ConfigurationError:
    """Return the error for a lock file that changes each time it is opened."""
    return unusable(path, OSError(errno.EBUSY, "others create and remove it all the time"))


def unusable(path: Path, exc: OSError) -> ConfigurationError:
    """Return the error for a lock file that cannot be used."""
    reason, hint = f"cannot be used: {exc.strerror or exc}", FOLDER_HINT
    if exc.errno in _NO_LOCKS:
        reason = f"is on a file system without real locks: {exc.strerror}"
    elif exc.errno in _NO_SPACE:
        reason = f"cannot be written: {exc.strerror}"
        hint = f"Make room on that disk. {FOLDER_HINT}"
    return ConfigurationError(
        f"the lock file {path} {reason}", hint=hint, details={"path": str(path)}
    )


def _found(path: Path, folder: int, access: int) -> LockFile | None:
    """Open an existing file; return None if there is none."""
    try:
        # With O_CREAT, Linux refuses files of other users in a sticky folder.
        descriptor = os.open(path.name, access | _FLAGS, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as exc:
        _raise_if_final(path, folder, exc)
        return None
    try:
        found = os.fstat(descriptor)
        _check(path, found)
        if found.st_nlink:
            _open_up(descriptor, found)
            return LockFile(path, descriptor, found)
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None  # it was removed in between


def _created(path: Path, folder: int) -> LockFile | None:
    """Create a file; return None if one exists now, or the folder is gone."""
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS
        descriptor = os.open(path.name, flags, _EVERYBODY, dir_fd=folder)
    except (FileExistsError, FileNotFoundError):
        return None
    except OSError as exc:
        raise unusable(path, exc) from exc
    found = os.fstat(descriptor)
    _open_up(descriptor, found)
    return LockFile(path, descriptor, found)


def _open_up(descriptor: int, found: os.stat_result) -> None:
    """Let every user lock and write the file, whatever the umask was.

    Only while it is empty: one with contents may be a private file that was linked here.
    """
    is_closed = found.st_mode & _EVERYBODY != _EVERYBODY
    if is_closed and found.st_uid == os.geteuid() and found.st_size == 0:
        os.fchmod(descriptor, _EVERYBODY)


def _raise_if_final(path: Path, folder: int, exc: OSError) -> None:
    """Raise why a file cannot be opened; return if another try may succeed."""
    try:
        found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return
    _check(path, found)
    if isinstance(exc, PermissionError):
        if found.st_size == 0 and found.st_uid != os.geteuid() and _is_new(found):
            return  # its owner is about to open it up
        exc = PermissionError(exc.errno, f"it belongs to user {found.st_uid}: {exc.strerror}")
    raise unusable(path, exc) from exc


def _is_new(found: os.stat_result) -> bool:
    return abs(time.time() - found.st_ctime) < _CLOSED_FOR


def _check(path: Path, found: os.stat_result) -> None:
    """Raise unless it is a plain file with one name: another could be a user's private file."""
    kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), None)
    if kind is None and found.st_nlink > 1:
        kind = f"one of {found.st_nlink} names of the same file"
    if kind is not None:
        raise ConfigurationError(
            f"the lock file {path} is {kind} (owner: user {found.st_uid}); nothing was done to it",
            hint=f"Remove it, if it is yours. {FOLDER_HINT}",
            details={"path": str(path)},
        )
