"""Leases as files of this machine, in a folder that all its users share.

A device that is held has two files. The lock file is empty; the operating system's lock on it
is the lease, and ends with its process, however that ends. The holder file names the holder.
It is locked as well, so that readers can tell a living holder from the file of a killed one;
they try only this lock, so reading never keeps anybody from leasing the device.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.errors import LeaseError
from pytest_clawperator.execution.lock_file import (
    LockFile,
    find_lock_file,
    lock_folder,
    lock_path,
    lock_standing,
    require_flock,
    unusable,
)

# Readers try the lock of the holder file for an instant; this is long enough for a crowd of them.
_READERS_DONE = 5.0
# A holder overwrites the file of the one before, so all are of one length.
_HOLDER_BYTES = 1024


class FileLeases:
    """The leases of the users of this machine."""

    def __init__(self, *, run_id: str, folder: Path | None = None) -> None:
        require_flock()
        self._run_id = run_id
        self._folder = folder or lock_folder()

    def try_take(self, key: str) -> FileHold | None:
        """Lease the device; return None if it is taken."""
        lease = lock_standing(lock_path(key, "lease", folder=self._folder))
        if lease is None:
            return None
        try:
            return FileHold(key, Holder.here(self._run_id), lease, self._holder_path(key))
        except BaseException:
            lease.close()
            raise

    def holder(self, key: str) -> Holder | None:
        """Return who holds the device, if anyone does."""
        path = self._holder_path(key)
        text = _held_text(path)
        return None if text is None else Holder.from_json(text, found_in=str(path))

    def evict(self, key: str, holder: Holder) -> bool:
        """Take the device from this holder; return False if this holder does not have it."""
        if self.holder(key) != holder:
            return False
        for path in (lock_path(key, "lease", folder=self._folder), self._holder_path(key)):
            file = find_lock_file(path)
            if file is None:
                continue
            with closing(file):
                file.remove()
                if file.stands():
                    raise unusable(path, PermissionError("only its owner and root can remove it"))
        return True

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

    def __init__(self, key: str, holder: Holder, lease: LockFile, holder_path: Path) -> None:
        self.key = key
        self.holder = holder
        self._lease = lease
        text = holder.to_json()
        self.ticket = json.dumps({"key": key, "holder": text})
        self._holder_file = _written(holder_path, text)

    def check(self) -> None:
        """Raise if the lease is no longer valid."""
        if not self._lease.stands():
            removed = f"the lock file was removed: {self._lease.path}"
            raise LeaseError(
                "the device is no longer leased: "
                f"{removed if self._lease.is_open else 'it was released'}",
                serial=self.key,
                hint="Nothing was sent. Keep programs that clean up away from the lock files, and"
                " start the run again.",
                details={"key": self.key, "path": str(self._lease.path)},
            )

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless a command may be sent now; the flight file records which."""
        self.check()

    def release(self) -> None:
        """Release the device; a second call changes nothing."""
        for file in (self._holder_file, self._lease):
            if file.is_open:
                file.remove()
                file.close()

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
        lender, now = Holder.from_json(self._holder), "it is not leased"
        if text is not None:
            now = f"{Holder.from_json(text, found_in=str(self._path))} has it"
        raise LeaseError(
            f"the device is no longer leased by this run: {now}, not {lender}",
            serial=self.key,
            hint="The process that had leased it has ended, or someone took the device with"
            " `clawperator-py leases --break`; start the run again.",
            details={"key": self.key},
        )

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless a command may be sent now; the flight file records which."""
        self.check()


def _written(path: Path, text: str) -> LockFile:
    """Write the holder into its file, and return that, locked."""
    file = lock_standing(path, patience=_READERS_DONE)
    if file is None:
        raise unusable(path, OSError("another process has locked it, though not the device"))
    try:
        file.replace(text.encode().ljust(_HOLDER_BYTES))
    except OSError as exc:
        file.close()
        raise unusable(path, exc) from exc
    except BaseException:
        file.close()
        raise
    return file


def _held_text(path: Path) -> str | None:
    """Read a holder file; None if no living process has it."""
    file = find_lock_file(path)
    if file is None:
        return None
    try:
        if file.lock(shared=True):
            return None
        return file.read(_HOLDER_BYTES + 1).decode("utf-8", "replace").rstrip()
    finally:
        file.close()
