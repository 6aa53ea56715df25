"""The simulated phones that were left running, each group with a file that tells of it.

The process of the phones has its file locked for as long as it lives, however it ends: a file
that can be locked is of phones that are gone.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from pytest_clawperator.errors import ConfigurationError, DeviceError, ErrorCode, file_problem
from pytest_clawperator.simulator.child_process import Simulator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `start` asks

_LARGEST = 65536
# How long phones may take to end when they are asked to, and after they are made to.
_GRACE, _POLL = 5.0, 0.02


class NameTakenError(ValueError):
    """Phones of that name run already."""


@dataclass(frozen=True)
class RunningPhones:
    """Simulated phones that run: their process, their adb server and their serials.

    The file is called as they are. Those that are only starting have no server yet.
    """

    path: Path
    pid: int
    adb: str = ""
    serials: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What they are called."""
        return self.path.stem

    def to_document(self) -> dict[str, Any]:
        """Return them for programs."""
        told = {"pid": self.pid, "adb": self.adb, "serials": list(self.serials)}
        return {"name": self.name, **told}


def start(name: str | None = None, **options: Any) -> RunningPhones:
    """Start phones that go on when this process, and the shell, have ended.

    Raise ``NameTakenError`` if there are phones of that name; without one they get a name.
    """
    if fcntl is None:
        raise ConfigurationError(
            "simulated phones do not run on this system", hint="Use Linux or macOS (WSL will do)."
        )
    with _locked_file(name) as (path, descriptor), ExitStack() as undo:
        undo.callback(path.unlink)
        simulator = Simulator(stay=True, pid_file=descriptor, **options)
        undo.callback(simulator.stop)
        simulator.start()
        adb = f"{simulator.adb_host}:{simulator.adb_port}"
        phones = RunningPhones(path, simulator.pid, adb, tuple(simulator.serials))
        os.pwrite(descriptor, json.dumps(phones.to_document()).encode(), 0)
        undo.pop_all()  # from now on they are on their own
        simulator.leave()
    return phones


def running() -> list[RunningPhones]:
    """Return the phones that run; files of others are removed."""
    found = (_read(path) for path in sorted(_folder().glob("*.json")))
    phones = [one for one in found if one is not None]
    if not phones:
        with suppress(OSError):  # somebody's file is in it
            _folder().rmdir()
            _folder().parent.rmdir()
    return phones


def elsewhere(adb: str) -> str:
    """Return how to reach the phones that run behind another adb server; nothing without any."""
    found = [f"--adb {one.adb} ({one.name})" for one in running() if one.adb not in ("", adb)]
    return f"Simulated phones run: {', '.join(found)}." if found else ""


def stop(phones: RunningPhones) -> None:
    """End phones, and wait until nothing of them is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if _read(phones.path) is None:
            return
        with suppress(ProcessLookupError):
            os.kill(phones.pid, number)
        deadline = time.monotonic() + _GRACE
        while _read(phones.path) is not None and time.monotonic() < deadline:
            time.sleep(_POLL)  # no event tells of the end of a process that is not a child
    if _read(phones.path) is not None:
        raise DeviceError(
            f"the simulated phones of process {phones.pid} do not end",
            code=ErrorCode.EMULATOR_STOP_FAILED,
            hint=f"End the process by hand: kill -9 {phones.pid}",
        )


def _folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "pytest-clawperator" / "simulated"


@contextmanager
def _locked_file(name: str | None) -> Iterator[tuple[Path, int]]:
    """Make and lock the file of a name; without one, of the first name that is free."""
    for number in count(1):
        path = _folder() / f"{name or f'phones-{number}'}.json"
        _read(path)  # which removes the file of phones that are gone
        descriptor = _new_file(path)
        if descriptor is None and name is not None:
            raise NameTakenError(name)
        if descriptor is None:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(path, descriptor):  # nobody took it for a left one before it was locked
                yield path, descriptor
                return
        finally:
            os.close(descriptor)


def _new_file(path: Path) -> int | None:
    """Make a file and return its descriptor; None if there is one."""
    while True:
        try:
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"{path.parent} cannot be made: {file_problem(error)}",
                code=ErrorCode.FILE_UNAVAILABLE,
                hint="Set XDG_STATE_HOME to a folder that you may write to.",
            ) from error
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return None
        except FileNotFoundError:
            continue  # a stop of the last phones removed the folder at this moment


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read(path: Path) -> RunningPhones | None:
    """Return the phones of a file; None if they are gone, and then the file goes, too."""
    try:
        file = path.open("rb")
    except OSError:
        return None
    with closing(file):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _parsed(path, file.read(_LARGEST))
        path.unlink(missing_ok=True)
        return None


def _parsed(path: Path, content: bytes) -> RunningPhones | None:
    """Parse what a file says: only the process id while the phones start."""
    try:
        told = json.loads(content)
        if isinstance(told, int):
            return RunningPhones(path, told)
        return RunningPhones(path, told["pid"], told["adb"], tuple(told["serials"]))
    except (ValueError, KeyError, TypeError):
        return None
