"""Allow one execution in flight on a device, across all processes of the machine.

The lock is the operating system's, on a file named after the device, so it ends with its
process. The contents of the file stay: the command that was sent, and the latest time at which
the device can still be busy with it. The next holder of the lock finds a command there whose end
was not seen.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pytest_clawperator import errors
from pytest_clawperator.contracts import limits
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution import lock_file
from pytest_clawperator.execution.lock_file import LockFile

# The longest wait for a device, in seconds: a record with a longer one is not trusted.
LONGEST_FLIGHT = 3600.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# A record overwrites the one before, so all are of one length; a command id has at most 128
# characters, of up to six bytes in JSON.
_RECORD_BYTES = 1536
_NO_RECORD = b"-".ljust(_RECORD_BYTES)
_MAX_PID = 2**31
_FOREVER = 1e15
_NAMELESS = "a process whose lock file was removed"

_T = TypeVar("_T")

#: Raises unless this command, which may keep the device busy so many seconds, may be sent now.
Clearance = Callable[[str, float], None]


def always_clear(command_id: str, seconds: float) -> None:
    """Allow everything: a device that is not leased needs no permission."""


@dataclass(frozen=True)
class Unfinished:
    """A command that was sent and whose end was not seen.

    ``latest_end`` is on the monotonic clock, which all processes of one boot share, so
    changing the date has no effect. ``arrived``: the device is known to have it;
    ``after`` marks the newest log line from before it was sent.
    """

    command_id: str
    latest_end: float
    pid: int
    boot: str
    arrived: bool = False
    after: str = ""

    def lines_after(self, log: bytes) -> list[bytes]:
        """Return the log's lines from after it was sent: its id may have been used before."""
        lines = [line.removesuffix(b"\r") for line in log.split(b"\n")]
        for at in range(len(lines) - 1, -1, -1):
            if self.after and _fingerprint(lines[at]) == self.after:
                return lines[at + 1 :]
        return lines


def _fingerprint(line: bytes) -> str:
    return sha256(line).hexdigest()[:16] if line else ""


class Flight:
    """The right to have an execution in flight on one device."""

    def __init__(
        self, key: str, *, folder: Path | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = lock_file.lock_path(key, "flight", folder=folder)
        self._clock = clock
        self._turn = threading.Lock()
        self._owner: int | None = None
        self._file: LockFile | None = None  # kept open: an execution is short
        self._last: Claim | None = None

    def hold(
        self, command_id: str, run: Callable[[Claim], _T], *, serial: str, patience: float = 0.0
    ) -> _T:
        """Take the device for one execution: threads wait their turn, processes are refused.

        Another process gets ``patience`` seconds to finish.

        The device is free afterwards, even after an interrupt. A ``with`` cannot promise that:
        an interrupt on its way in or out leaves the device taken for as long as the traceback
        lives.
        """
        claims = self._claims(command_id, serial, patience)
        try:
            return run(next(claims))
        finally:
            next(claims, None)

    @contextmanager
    def claim(self, command_id: str, *, serial: str) -> Iterator[Claim]:
        """Take the device for one execution, as a context manager."""
        yield from self._claims(command_id, serial, 0.0)

    @property
    def folder(self) -> Path:
        """The folder of the lock file."""
        return self._path.parent

    def close(self) -> None:
        """Remove the lock file if it is not in use."""
        if self._turn.acquire(blocking=False):  # else another thread is about to use it
            try:
                self._close_file()
            finally:
                self._turn.release()
        with suppress(OSError, errors.ConfigurationError):
            remove_idle(self._path, clock=self._clock)

    def _claims(self, command_id: str, serial: str, patience: float) -> Iterator[Claim]:
        """Yield one claim, which ends with the generator."""
        if self._owner == threading.get_ident():
            raise _nested(command_id, serial)
        with self._turn:
            try:
                self._owner = threading.get_ident()
                yield from self._locked(command_id, serial, patience)
            finally:
                self._owner = None

    def _locked(self, command_id: str, serial: str, patience: float) -> Iterator[Claim]:
        for _ in range(lock_file.TRIES):
            file = self._opened()
            try:
                if file.lock(patience=patience):
                    if not file.take_name():
                        raise self._conflict(None, _NAMELESS, command_id, serial)
                    if file.stands():
                        yield self._claimed(file, command_id)
                        return
                elif file.stands():
                    raise self._conflict(*self._holder(file), command_id, serial)
            finally:
                try:
                    file.unlock()
                finally:
                    file.unlock()  # an interrupt may have cut the first call short
            self._close_file()  # another process removed the file: a lock is on nothing
        raise lock_file.never_stands(self._path)

    def _claimed(self, file: LockFile, command_id: str) -> Claim:
        """Return the claim, with what the one before sent even if its file was removed."""
        claim, last = Claim(file, command_id, self._clock), self._last
        if last is not None and last.left is not None and not file.read(1):
            claim.take_over(last.left)
        self._last = claim
        return claim

    def _opened(self) -> LockFile:
        if self._file is None or not self._file.is_open:
            self._file = lock_file.open_lock_file(self._path)
        return self._file

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def peek(self) -> Unfinished | None:
        """Return the command that may be on the device, without taking the lock."""
        with suppress(errors.ConfigurationError, ValueError):
            file = lock_file.find_lock_file(self._path)
            if file is not None:
                try:
                    return _unfinished(file, self._clock())
                finally:
                    file.close()
        return None

    def _holder(self, file: LockFile) -> tuple[Unfinished | None, str]:
        """Return the holder's command, if it is known, and a description of the holder."""
        try:
            holder = _read(file, self._clock())
        except ValueError:
            return None, f"a holder with no readable record in {self._path}"
        return holder, _named(holder) if holder else "another user"

    def _conflict(
        self, holder: Unfinished | None, who: str, command_id: str, serial: str
    ) -> errors.ExecutionConflictError:
        return errors.ExecutionConflictError(
            f"another execution is in flight on this device: {who}",
            code=ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT,
            serial=serial,
            hint="A device takes one execution at a time: wait for the other to end, "
            "or choose another device.",
            details={
                "deviceId": serial,
                "commandId": command_id,
                "holder": asdict(holder) if holder else None,
            },
        )


class Claim:
    """A device taken for one execution.

    ``unfinished`` is the command that the last holder left on the device, ``problem`` is what
    was wrong with the lock file's contents, which are then replaced.
    """

    def __init__(self, file: LockFile, command_id: str, clock: Callable[[], float]) -> None:
        self._file = file
        self._command_id = command_id
        self._clock = clock
        self._record: Unfinished | None = None
        self.unfinished: Unfinished | None = None
        self.problem = ""
        try:
            self.unfinished = _unfinished(file, clock())
        except ValueError as exc:
            self.problem = (
                f"the lock file {file.path} had contents that no run wrote ({exc}); they were"
                " replaced, so a command that may still be on the device is not waited for"
            )
            self._write(_NO_RECORD, self._file.replace)

    @property
    def left(self) -> Unfinished | None:
        """The command that was sent and is not known to have ended."""
        return self._record

    def take_over(self, unfinished: Unfinished) -> None:
        """Record a command of this process whose record was removed, unless it is over."""
        if unfinished.latest_end > self._clock():
            self.unfinished = unfinished
            self._record_as(unfinished)

    def check(self) -> None:
        """Raise if others can take the device, because the lock file was removed or replaced."""
        if not self._file.stands():
            raise errors.LeaseError(
                "the device is no longer locked for this execution: the lock file"
                f" {self._file.path}, or its folder, was removed or replaced",
                hint="The command was not sent. Keep programs that clean up away from the lock"
                " files, and start again.",
                details={"commandId": self._command_id, "path": str(self._file.path)},
            )

    def take_off(self, latest_end: float, *, after: bytes = b"") -> None:
        """Record that the command is about to be sent; ``after`` is the newest log line."""
        mark = _fingerprint(after)
        latest_end = min(latest_end, self._clock() + LONGEST_FLIGHT)
        self._record_as(
            Unfinished(self._command_id, latest_end, os.getpid(), boot_id(), after=mark)
        )

    def arrive(self) -> None:
        """Record that the device has the command."""
        assert self._record is not None, "it did not take off"
        self._record_as(replace(self._record, arrived=True))

    def land(self) -> None:
        """Erase the record: the device is known to be done."""
        self._record = None
        self._write(_NO_RECORD, self._file.write)

    def _record_as(self, record: Unfinished) -> None:
        self._record = record
        self._write(json.dumps(vars(record)).encode().ljust(_RECORD_BYTES), self._file.write)

    def _write(self, content: bytes, write: Callable[[bytes], None]) -> None:
        try:
            write(content)
        except OSError as exc:
            raise errors.ConfigurationError(
                f"what is sent to the device cannot be written down: {exc.strerror or exc}",
                hint=f"Make room on the disk. {lock_file.FOLDER_HINT}",
            ) from exc


def _named(holder: Unfinished) -> str:
    here = holder.pid == os.getpid()
    process = "another client of this process" if here else f"process {holder.pid}"
    return f"{process} with command {holder.command_id}"


def _nested(command_id: str, serial: str) -> errors.ExecutionConflictError:
    return errors.ExecutionConflictError(
        "an execution was begun in the middle of another one, by an observer of it",
        code=ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT,
        serial=serial,
        hint="Let the observer only take notes, and act on the device after an ExecutionFinished.",
        details={"deviceId": serial, "commandId": command_id, "holder": None},
    )


def remove_idle(path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
    """Remove a lock file, unless it is in use or records a command that may still run."""
    file = lock_file.find_lock_file(path)
    if file is None:
        return
    try:
        if file.lock() and _unfinished(file, clock()) is None:
            file.remove()
    except ValueError:
        file.remove()  # its contents are useless
    finally:
        file.close()


def _unfinished(file: LockFile, now: float) -> Unfinished | None:
    """Return the record that the last holder left, unless its time has passed."""
    left = _read(file, now)
    return left if left is not None and left.latest_end > now else None


def _read(file: LockFile, now: float) -> Unfinished | None:
    """Return the record in a file, if there is one of this boot; raise ``ValueError`` for others.

    Every user can write to the file, so its contents are not trusted.
    """
    content = file.read(_RECORD_BYTES + 1)
    if not content or content == _NO_RECORD:
        return None
    if len(content) > _RECORD_BYTES:
        raise ValueError(f"more than {_RECORD_BYTES} bytes")
    record = _parsed(content)
    if record.boot != boot_id():
        return None
    if record.latest_end > now + LONGEST_FLIGHT + 1:
        raise ValueError(f"an execution that takes {record.latest_end - now:.0f} s longer")
    return record


def _parsed(content: bytes) -> Unfinished:
    try:
        found = json.loads(content.decode("ascii"))
    except RecursionError:
        raise ValueError("deeply nested") from None
    if not isinstance(found, dict) or found.keys() != _FIELDS.keys():
        raise ValueError("no record")
    for name, is_valid in _FIELDS.items():
        if not is_valid(found[name]):
            raise ValueError(f"{name} is of a wrong kind")
    return Unfinished(**found)


def _is_text(value: Any) -> bool:
    # Encoding refuses lone surrogates, which cannot be printed either.
    return type(value) is str and len(value.encode("utf-16-le")) <= 2 * limits.MAX_ID_LENGTH


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _FOREVER  # which NaN is not


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "command_id": _is_text,
    "latest_end": _is_time,
    "pid": lambda value: type(value) is int and 0 < value < _MAX_PID,
    "boot": _is_text,
    "arrived": lambda value: type(value) is bool,
    "after": _is_text,
}


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Return an id of this boot, as each has its own monotonic clock; "" if unknown."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


# Only files not touched for a day are checked: locking one that is in use would disturb.
_LONG = 24 * 60 * 60.0
_OURS = re.compile(r"pytest-clawperator-.*-[0-9a-f]{8}\.(flight|lease|holder|port)")


@lru_cache(maxsize=8)
def sweep(folder: Path) -> None:
    """Remove old files of killed processes from the folder, once per process."""
    with suppress(OSError, errors.ConfigurationError):
        for path in _old_files(folder):
            with suppress(OSError, errors.ConfigurationError):
                _remove_left(path)


def _old_files(folder: Path) -> list[Path]:
    long_ago = time.time() - _LONG
    with lock_file.open_folder(folder) as descriptor, os.scandir(descriptor) as entries:
        return [
            folder / entry.name
            for entry in entries
            if _OURS.fullmatch(entry.name)
            if entry.stat(follow_symlinks=False).st_mtime < long_ago
        ]


def _remove_left(path: Path) -> None:
    """Remove an old file; a holder's file only while its lease is locked."""
    if path.suffix != ".holder":
        remove_idle(path)
        return
    holder = lock_file.find_lock_file(path)
    lease = lock_file.lock_standing(path.with_suffix(".lease")) if holder is not None else None
    if holder is not None and lease is not None:
        with closing(holder), closing(lease):
            holder.remove()
            lease.remove()
