"""One execution in flight on a device, whoever sends it: a lock that all processes see.

The lock is the operating system's, on a file named after the device, so it dies with its
process. What is written in the file does not: the command that was sent and the latest
time at which the device can still be busy with it. Whoever takes the lock next learns of a
command that nobody saw the end of.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from pytest_clawperator.errors import ConfigurationError, ErrorCode, ExecutionConflictError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `_lock` asks

_FOLDER_VARIABLE = "CLAWPERATOR_LEASE_DIR"
_FOLDER_HINT = f"Set {_FOLDER_VARIABLE} to a folder that every user of the device can write."
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# A record overwrites the one before, so all are of one length; a command id has at most 128
# characters, of up to six bytes in JSON.
_RECORD_BYTES = 1536
_NO_RECORD = b"-"

_T = TypeVar("_T")


#: Raises unless this command may be sent now; the device may be busy with it so many seconds.
Clearance = Callable[[str, float], None]


def always_clear(command_id: str, seconds: float) -> None:
    """Allow everything: a device that is not leased needs no permission."""


@dataclass(frozen=True)
class Unfinished:
    """A command that was sent and whose end nobody saw.

    ``latest_end`` is on the monotonic clock, which all processes of one boot share, so that
    setting the date changes nothing. ``arrived`` says that the device is known to have it,
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
        self._key = key
        self._path = lock_path(key, "flight", folder=folder)
        self._clock = clock
        self._turn = threading.Lock()
        self._owner: int | None = None

    def hold(self, command_id: str, run: Callable[[Claim], _T], *, serial: str) -> _T:
        """Take the device for one execution: threads wait their turn, processes are refused.

        Whatever interrupts it, the device is free afterwards. A ``with`` cannot promise that:
        an interrupt on its way in or out leaves the device taken for as long as somebody
        keeps the traceback.
        """
        claims = self._claims(command_id, serial)
        try:
            return run(next(claims))
        finally:
            next(claims, None)

    @contextmanager
    def claim(self, command_id: str, *, serial: str) -> Iterator[Claim]:
        """Take the device for one execution, as a context manager."""
        yield from self._claims(command_id, serial)

    @property
    def folder(self) -> Path:
        """The folder of the lock file."""
        return self._path.parent

    def close(self) -> None:
        """Remove the lock file if nobody uses it."""
        with suppress(OSError, ConfigurationError):
            descriptor = os.open(self._path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            remove_idle(descriptor, self._path, clock=self._clock)

    def _claims(self, command_id: str, serial: str) -> Iterator[Claim]:
        """Yield one claim, which ends with the generator."""
        if self._owner == threading.get_ident():
            raise _nested(command_id, serial)
        with self._turn:
            try:
                self._owner = threading.get_ident()
                yield from self._locked(command_id, serial)
            finally:
                self._owner = None

    def _locked(self, command_id: str, serial: str) -> Iterator[Claim]:
        while True:
            descriptor = self._open()
            try:
                if not _lock(descriptor):
                    raise self._conflict(descriptor, command_id, serial)
                if _is_at(descriptor, self._path):
                    yield Claim(descriptor, command_id, self._unfinished(descriptor))
                    return
                # Another process removed the file in between: the lock is on nothing.
            finally:
                os.close(descriptor)

    def peek(self) -> Unfinished | None:
        """Return the command that may be on the device, without taking the lock."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return None
        try:
            return self._unfinished(descriptor)
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        try:
            return open_shared(self._path)
        except OSError as exc:
            raise ConfigurationError(
                f"the lock file {self._path} cannot be opened: {exc.strerror}",
                hint=_FOLDER_HINT,
                details={"path": str(self._path), "key": self._key},
            ) from exc

    def _unfinished(self, descriptor: int) -> Unfinished | None:
        return _unfinished(descriptor, self._clock())

    def _conflict(self, descriptor: int, command_id: str, serial: str) -> ExecutionConflictError:
        holder = _read(descriptor)
        who = _named(holder) if holder else "another user"
        return ExecutionConflictError(
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
    """A device taken for one execution."""

    def __init__(self, descriptor: int, command_id: str, unfinished: Unfinished | None) -> None:
        self._descriptor = descriptor
        self._command_id = command_id
        self._record: Unfinished | None = None
        self.unfinished = unfinished

    def take_off(self, latest_end: float, *, after: bytes = b"") -> None:
        """Record that the command is on its way, before it is; ``after`` is the newest log line."""
        mark = _fingerprint(after)
        record = Unfinished(self._command_id, latest_end, os.getpid(), _boot_id(), after=mark)
        self._write(record)

    def arrive(self) -> None:
        """Record that the device has the command."""
        assert self._record is not None, "it did not take off"
        self._write(replace(self._record, arrived=True))

    def land(self) -> None:
        """Erase the record: the device is known to be done."""
        os.pwrite(self._descriptor, _NO_RECORD, 0)

    def _write(self, record: Unfinished) -> None:
        self._record = record
        content = json.dumps(vars(record)).encode().ljust(_RECORD_BYTES)
        try:
            written = os.pwrite(self._descriptor, content, 0)
        except OSError as exc:
            raise _unwritten(exc.strerror or str(exc)) from exc
        if written < len(content):
            raise _unwritten("the disk is full")


def lock_folder() -> Path:
    """Return the folder of the locks, which all users of the machine share."""
    chosen = os.environ.get(_FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    # TMPDIR is often a job's own, and two jobs must see each other's locks.
    shared = "/tmp" if os.name == "posix" else tempfile.gettempdir()  # noqa: S108 - shared on purpose
    return Path(shared) / "pytest-clawperator-locks"


def _named(holder: Unfinished) -> str:
    here = holder.pid == os.getpid()
    process = "another client of this process" if here else f"process {holder.pid}"
    return f"{process} with command {holder.command_id}"


def _nested(command_id: str, serial: str) -> ExecutionConflictError:
    return ExecutionConflictError(
        "an execution was begun in the middle of another one, by an observer of it",
        code=ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT,
        serial=serial,
        hint="Let the observer note what it was told, and act on the device when an "
        "ExecutionFinished came.",
        details={"deviceId": serial, "commandId": command_id, "holder": None},
    )


def lock_path(key: str, kind: str, *, folder: Path | None = None) -> Path:
    """Return the path of a device's file of this kind; two keys never share one."""
    readable = re.sub(r"[^A-Za-z0-9.-]+", "_", key)[:60].lstrip(".")
    digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return (folder or lock_folder()) / f"{readable}-{digest}.{kind}"


def open_shared(path: Path) -> int:
    """Open the file, writable by every user; create it if it is not there yet."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags, 0o666)
    except FileNotFoundError:
        # No sticky bit: with it, Linux refuses to open another user's file for writing.
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o777)
        descriptor = os.open(path, flags, 0o666)
    found = os.fstat(descriptor)
    if found.st_mode & 0o666 != 0o666 and found.st_uid == os.geteuid():
        os.fchmod(descriptor, 0o666)  # the umask had its say
    return descriptor


def remove_idle(descriptor: int, *paths: Path, clock: Callable[[], float] = time.monotonic) -> None:
    """Remove files unless the last of them, which is open, is in use; close it."""
    try:
        idle = _lock(descriptor) and _unfinished(descriptor, clock()) is None
        if idle and _is_at(descriptor, paths[-1]):
            for path in paths:
                path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _unwritten(reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"what is sent to the device cannot be written down: {reason}",
        hint=f"Make room on the disk. {_FOLDER_HINT}",
    )


def _lock(descriptor: int) -> bool:
    if fcntl is None:
        raise ConfigurationError(
            "this system has no flock, which keeps two processes off one device",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="Run the tests on Linux or macOS (WSL will do).",
        )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the open file is still the one that others would open."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _read(descriptor: int) -> Unfinished | None:
    content = os.pread(descriptor, 2 * _RECORD_BYTES, 0)
    if not content or content.startswith(_NO_RECORD):
        return None
    try:
        return Unfinished(**json.loads(content))
    except (ValueError, TypeError):
        return None  # cut short by a full disk or a crash: nothing to go by


def _unfinished(descriptor: int, now: float) -> Unfinished | None:
    """Return the record that the last holder left, unless its time has passed."""
    left = _read(descriptor)
    if left is None or left.boot != _boot_id() or left.latest_end <= now:
        return None
    return left


@lru_cache(maxsize=1)
def _boot_id() -> str:
    """Return an id of this boot, as each has its own monotonic clock; "" where unknown."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""
