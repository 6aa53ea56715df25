"""Which virtual device belongs to which run, and what a killed run left behind.

Each virtual device has a file that is locked by the run that uses it; the operating system's
lock ends with its process, however that ends. What is written in the file does not: what the
run made and started. A run that finds a file that nobody has locked, and that is not empty,
knows what it has to end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.execution.locks.lock_file import LockFile, lock_standing

_SUFFIX = ".claim"
_LARGEST = 64 * 1024
# A wait inside flock could not be interrupted by the end of the run.
_LOOK_AGAIN = 0.2


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

    def __init__(self, name: str, file: LockFile) -> None:
        self.name = name
        self._file = file
        self.left = _read(file.read(_LARGEST), name)

    def write(self, traces: Traces) -> None:
        """Write down what is about to be done, for whoever has to clean up."""
        self._file.replace(json.dumps(asdict(traces)).encode())

    def release(self) -> None:
        """Let others have the virtual device; what was written is forgotten."""
        if self._file.is_open:
            self._file.remove()
            self._file.close()


class Claims:
    """The virtual devices of a user, and who has which.

    ``pause`` is called between two looks at something that another run has.
    """

    def __init__(self, folder: Path, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._folder = folder
        self._pause = pause

    def take(self, name: str) -> Claim | None:
        """Claim a virtual device; None if another run has it."""
        file = self._locked(f"{name}{_SUFFIX}")
        return None if file is None else Claim(name, file)

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
    def lock(self, what: str, on_wait: Callable[[], None] = lambda: None) -> Iterator[bool]:
        """Keep other runs from something; yield whether it had to be waited for."""
        waited = False
        while (file := self._locked(f"{what.replace(';', '_')}.lock")) is None:
            if not waited:
                on_wait()
            waited = True
            self._pause(_LOOK_AGAIN)
        try:
            yield waited
        finally:
            file.close()

    def _locked(self, name: str) -> LockFile | None:
        # Nobody else may write to it, whatever the umask says.
        self._folder.mkdir(0o700, parents=True, exist_ok=True)
        return lock_standing(self._folder / name)


def _read(content: bytes, name: str) -> Traces | None:
    """Return what the last holder left; None if it left nothing."""
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
