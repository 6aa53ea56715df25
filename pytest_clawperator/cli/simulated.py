"""The simulated phones that were left running, each group with a file that tells of it.

The process of the phones has its file locked for as long as it lives, however it ends: a file
that can be locked is of phones that are gone.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.errors import ConfigurationError, DeviceError, ErrorCode
from pytest_clawperator.simulator.child_process import Simulator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere; `start` asks

_LARGEST = 65536
# How long phones may take to end when they are asked to, and after they are made to.
_GRACE, _POLL = 5.0, 0.02


@dataclass(frozen=True)
class RunningPhones:
    """Simulated phones that run: their process, their adb server and their serials."""

    path: Path
    pid: int
    adb: str
    serials: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """Return them for programs."""
        return {"pid": self.pid, "adb": self.adb, "serials": list(self.serials)}


def start(**options: Any) -> RunningPhones:
    """Start phones that go on when this process, and the shell, have ended."""
    if fcntl is None:
        raise ConfigurationError(
            "simulated phones do not run on this system", hint="Use Linux or macOS (WSL will do)."
        )
    folder = _folder()
    folder.mkdir(0o700, parents=True, exist_ok=True)
    path = folder / f"{secrets.token_hex(6)}.json"
    with _locked_file(path) as descriptor, ExitStack() as undo:
        undo.callback(path.unlink)
        simulator = Simulator(stay=True, open_files=[descriptor], **options)
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
def _locked_file(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


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
    """Parse what a file says; None while the phones are only starting."""
    try:
        told = json.loads(content)
        return RunningPhones(path, told["pid"], told["adb"], tuple(told["serials"]))
    except (ValueError, KeyError, TypeError):
        return None
