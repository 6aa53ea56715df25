"""Which virtual device belongs to which run, and what a killed run left behind.

Each virtual device has a file that is locked by the run that uses it; the operating system's
lock ends with its process, however that ends. What is written in the file does not: what the
run made and started. A run that finds a file that nobody has locked, and that is not empty,
knows what it has to end.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_SUFFIX = ".claim"
_LARGEST = 64 * 1024


@dataclass(frozen=True)
class Traces:
    """What a run made of a virtual device: written before it is done.

    ``created`` says that the virtual device was made by the run, ``port`` is that of the
    console it was started with, ``pid_file`` is where the process writes its id.
    """

    avd_name: str
    created: bool = False
    port: int | None = None
    pid_file: str | None = None


class Claim:
    """A virtual device that this process has for itself."""

    def __init__(self, name: str, path: Path, descriptor: int) -> None:
        self.name = name
        self._path = path
        self._descriptor = descriptor
        self.left = _read(descriptor, name)

    def write(self, traces: Traces) -> None:
        """Write down what is about to be done, for whoever has to clean up."""
        content = json.dumps(asdict(traces)).encode()
        os.pwrite(self._descriptor, content, 0)
        os.ftruncate(self._descriptor, len(content))

    def release(self, *, forget: bool = True) -> None:
        """Let others have the virtual device; what was written is forgotten, or left to them."""
        if self._descriptor < 0:
            return
        if forget:
            with suppress(OSError):
                self._path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1


class Claims:
    """The virtual devices of a user, and who has which."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, name: str) -> Claim | None:
        """Claim a virtual device; None if another run has it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{name}{_SUFFIX}"
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(descriptor, path):
                    return Claim(name, path, descriptor)
            except BlockingIOError:
                os.close(descriptor)
                return None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # its last holder removed the file in between

    def left_behind(self) -> Iterator[Claim]:
        """Claim and yield the virtual devices of runs that did not clean up."""
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            claim = self.take(path.name.removesuffix(_SUFFIX))
            if claim is None:
                continue
            if claim.left is None:
                claim.release()
            else:
                yield claim

    @contextmanager
    def lock(self, what: str) -> Iterator[bool]:
        """Keep other runs from something; yield whether it had to be waited for."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{what.replace(';', '_')}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            waited = False
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waited = True
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield waited
        finally:
            os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _read(descriptor: int, name: str) -> Traces | None:
    """Return what the last holder left; None if it left nothing."""
    content = os.pread(descriptor, _LARGEST, 0)
    if not content.strip():
        return None
    try:
        told: Any = json.loads(content)
        port, pid_file = told.get("port"), told.get("pid_file")
    except (ValueError, AttributeError, RecursionError):
        return Traces(name)
    return Traces(
        name,
        created=told.get("created") is True,
        port=port if isinstance(port, int) else None,
        pid_file=pid_file if isinstance(pid_file, str) else None,
    )
