"""Leases as files of this machine, in a folder that all its users share.

A device that is held has two files. The lock file is empty; the operating system's lock on it
is the lease, and ends with its process, however that ends. The holder file names the holder.
It is locked as well, so that readers can tell a living holder from the file of a killed one;
they try only this lock, so reading never keeps anybody from leasing the device.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.errors import ConfigurationError, ErrorCode, LeaseError
from pytest_clawperator.execution.flight import lock_folder, lock_path, open_shared

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `FileLeases` asks

# Readers try the lock of the holder file for an instant; this is long enough for a crowd of them.
_READERS_DONE = 5.0
# A holder overwrites the file of the one before, so all are of one length.
_HOLDER_BYTES = 1024

_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FOLDER_HINT = (
    "Set CLAWPERATOR_LEASE_DIR to a folder on a local disk that every user of the devices can"
    " write, the same for all of them."
)

_Identity = tuple[int, int]


class FileLeases:
    """The leases of the users of this machine."""

    def __init__(self, *, run_id: str, folder: Path | None = None) -> None:
        if fcntl is None:
            raise ConfigurationError(
                "this system has no flock, which keeps two processes off one device",
                code=ErrorCode.HOST_DEPENDENCY_MISSING,
                hint="Run the tests on Linux or macOS (WSL will do).",
            )
        self._run_id = run_id
        self._folder = folder or lock_folder()

    def try_take(self, key: str) -> FileHold | None:
        """Lease the device; None if somebody has it."""
        lock = _locked(lock_path(key, "lease", folder=self._folder))
        if lock is None:
            return None
        try:
            return FileHold(key, Holder.here(self._run_id), lock, self._holder_path(key))
        except BaseException:
            lock.release()
            raise

    def holder(self, key: str) -> Holder | None:
        """Return who has the device, if anybody."""
        text = _held_text(self._holder_path(key))
        return None if text is None else Holder.from_json(text)

    def borrow(self, ticket: str) -> FilePermit:
        """Return the right to use a device that another process of the run has leased."""
        shown = json.loads(ticket)
        return FilePermit(shown["key"], shown["holder"], self._holder_path(shown["key"]))

    def close(self) -> None:
        """Do nothing: files need no connection."""

    def _holder_path(self, key: str) -> Path:
        return lock_path(key, "holder", folder=self._folder)


class FileHold:
    """A device that this process has leased."""

    def __init__(self, key: str, holder: Holder, lock: _Locked, holder_path: Path) -> None:
        self.key = key
        self.holder = holder
        self._lock = lock
        text = holder.to_json()
        self.ticket = json.dumps({"key": key, "holder": text})
        try:
            self._holder_lock = _Locked(holder_path, content=text, patience=_READERS_DONE)
        except (OSError, Timeout) as exc:
            raise _unusable(holder_path, exc) from exc

    def check(self) -> None:
        """Raise if the lease is no longer valid."""
        if not self._lock.is_valid:
            raise LeaseError(
                f"the device is no longer leased: {self._lock.why_not}",
                serial=self.key,
                hint="Keep programs that clean up away from the folder of the lock files, and"
                " start the run again.",
                details={"key": self.key, "path": str(self._lock.path)},
            )

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless a command may be sent now; the flight file records which."""
        self.check()

    def release(self) -> None:
        """Release the device; a second call changes nothing."""
        if self._holder_lock.is_valid:
            with suppress(OSError):
                self._holder_lock.path.unlink()
        self._holder_lock.release()
        if self._lock.is_valid:
            with suppress(OSError):
                self._lock.path.unlink()
        self._lock.release()

    def __enter__(self) -> FileHold:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()


class FilePermit:
    """A device that another process of the run has leased."""

    def __init__(self, key: str, holder: str, holder_path: Path) -> None:
        self.key = key
        self._holder = holder
        self._path = holder_path

    def check(self) -> None:
        """Raise if that process no longer has the device."""
        text = _held_text(self._path)
        if text == self._holder:
            return
        lender = Holder.from_json(self._holder)
        now = "nobody has it" if text is None else f"{Holder.from_json(text)} has it"
        raise LeaseError(
            f"the device is no longer leased by this run: {now}, not {lender}",
            serial=self.key,
            hint="The process that had leased it has ended; start the run again.",
            details={"key": self.key},
        )

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless a command may be sent now; the flight file records which."""
        self.check()


class _Locked:
    """A file that this process has locked; raises ``Timeout`` where another one has."""

    def __init__(self, path: Path, *, content: str | None = None, patience: float = 0.0) -> None:
        self.path = path
        self._identity: _Identity | None = None
        self._content = content
        self._lock = FileLock(
            path,
            mode=0o666,
            timeout=patience,
            poll_interval=0.001,
            thread_local=False,
            fallback_to_soft=False,
            on_acquired=self._acquired,
        )
        self._lock.acquire()

    @property
    def is_valid(self) -> bool:
        """Whether the file is locked, and still the one that others would lock."""
        return self._lock.is_locked and _identity(self.path) == self._identity

    @property
    def why_not(self) -> str:
        """Return why it is not valid."""
        if not self._lock.is_locked:
            return "it was released"
        return f"somebody removed the lock file {self.path}"

    def release(self) -> None:
        """Unlock the file."""
        self._lock.release()

    def _acquired(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        self._identity = found.st_dev, found.st_ino
        if self._content is None:
            return
        content = self._content.encode().ljust(_HOLDER_BYTES)
        if os.pwrite(descriptor, content, 0) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _locked(path: Path) -> _Locked | None:
    """Lock a file; None if another process has."""
    while True:
        try:
            os.close(open_shared(path))
            lock = _Locked(path)
        except Timeout:
            return None
        except OSError as exc:
            raise _unusable(path, exc) from exc
        if lock.is_valid:
            return lock
        lock.release()  # its last holder removed the file in between: the lock is on nothing


def _identity(path: Path) -> _Identity | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _held_text(path: Path) -> str | None:
    """Read a holder file; None if no living process has it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise _unusable(path, exc) from exc
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, 2 * _HOLDER_BYTES, 0).decode("utf-8", "replace").rstrip()
    except OSError as exc:
        raise _unusable(path, exc) from exc
    else:
        return None
    finally:
        os.close(descriptor)


def _unusable(path: Path, exc: OSError) -> ConfigurationError:
    reason, hint = f"cannot be used: {exc.strerror or exc}", _FOLDER_HINT
    if exc.errno in _NO_LOCKS:
        reason = f"is on a file system without real locks: {exc.strerror}"
    elif exc.errno in _NO_SPACE:
        reason = f"cannot be written: {exc.strerror}"
        hint = f"Make room on that disk. {_FOLDER_HINT}"
    return ConfigurationError(
        f"the lock file {path} {reason}", hint=hint, details={"path": str(path)}
    )
