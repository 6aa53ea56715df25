"""Which virtual device belongs to which run, and what a killed run left behind.

Each virtual device has a file that is locked by the run that uses it; the operating system's
lock ends with its process, however that ends. What is written in the file does not: what the
run made and started. A run that finds a file that is not locked and not empty
knows what it has to end. The folder is there only while a run is, or something that one left.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.emulators.avd import ImageLock
from pytest_clawperator.emulators.sdk import PidFile
from pytest_clawperator.errors import ConfigurationError, EmulatorError, ErrorCode
from pytest_clawperator.execution.lock_file import LockFile, lock_path, lock_standing

_SUFFIX, _IMAGE_SUFFIX = ".claim", ".image"

_LARGEST = 64 * 1024

# A wait inside flock could not be interrupted by the end of the run.
_LOCK_POLL = 0.2

# Longer than a living run takes to install an image.
_INSTALLED_WITHIN = 600.0


@dataclass(frozen=True)
class Traces:
    """What a run does with a virtual device: written before it is done.

    ``created`` is set if the run makes the virtual device, ``port`` is that of the console
    it is started with.
    """

    avd_name: str
    created: bool = False
    port: int | None = None


class AvdClaim:
    """A virtual device that this process has for itself.

    ``left`` is what a killed run did with it. ``pid_file`` is where each process that is started
    for it, an emulator or a tool, writes its id.
    """

    def __init__(self, name: str, file: LockFile) -> None:
        self.name = name
        self._file = file
        self.left = _read(file.read(_LARGEST), name)
        self.pid_file = PidFile(file.path.with_name(f"{name}.pid"), file.descriptor)

    def write(self, traces: Traces) -> None:
        """Write down what is about to be done, for the run that has to clean up."""
        self._file.replace(json.dumps(asdict(traces)).encode())

    def release(self) -> None:
        """Let others have the virtual device; what was written is forgotten."""
        if self._file.is_open:
            self.pid_file.path.unlink(missing_ok=True)
            self._file.discard()

    def leave(self) -> None:
        """Let others have the virtual device as it was found, with what a killed run left."""
        if self.left is None:
            self.release()
        else:
            self._file.close()


class AvdClaims:
    """The virtual devices of a user, and who has which.

    ``pause`` is called between two tries for something that another run has.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._pause = pause

    def take(self, name: str) -> AvdClaim | None:
        """Claim a virtual device; None if another run has it."""
        file = self._locked(f"{name}{_SUFFIX}")
        return None if file is None else AvdClaim(name, file)

    def left_behind(self) -> Iterator[AvdClaim]:
        """Claim and yield the virtual devices of runs that did not clean up."""
        for path in sorted(self._folder.glob(f"*{_IMAGE_SUFFIX}")):
            file = self._locked(path.name)
            if file is not None:
                file.discard()
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            claim = self.take(path.name.removesuffix(_SUFFIX))
            if claim is None:
                continue
            if claim.left is None:
                claim.leave()
            else:
                yield claim

    @contextmanager
    def lock_image(
        self, image: str, on_wait: Callable[[], None] = lambda: None
    ) -> Iterator[ImageLock]:
        """Keep other runs from a system image; wait for one that installs it."""
        waited, deadline = False, self._clock() + _INSTALLED_WITHIN
        while (file := self._locked(f"{image.replace(';', '_')}{_IMAGE_SUFFIX}")) is None:
            if self._clock() >= deadline:
                raise _never_installed(image)
            if not waited:
                on_wait()
            waited = True
            self._pause(_LOCK_POLL)
        try:
            yield ImageLock(waited, file.descriptor)
        finally:
            file.discard()

    def remove_folder(self) -> None:
        """Remove the folder, unless something is in it."""
        with suppress(OSError):
            self._folder.rmdir()

    def _locked(self, name: str) -> LockFile | None:
        # No other user may write to the folder: its content is trusted.
        try:
            return lock_standing(self._folder / name, private=True)
        except ConfigurationError as error:
            raise ConfigurationError(
                error.message,
                hint=f"It is beside the virtual devices: {self._folder.parent} must be a folder"
                " that only this user can write to; ANDROID_AVD_HOME chooses another one.",
                details=error.details,
            ) from error


def _never_installed(image: str) -> EmulatorError:
    return EmulatorError(
        f"another process has been installing {image} for more than {_INSTALLED_WITHIN:g} s",
        code=ErrorCode.ANDROID_SYSTEM_IMAGE_INSTALL_FAILED,
        hint="End that `sdkmanager`, and start again.",
        details={"systemImage": image},
    )


def _read(content: bytes, name: str) -> Traces | None:
    """Return what the last holder left; None if it left nothing."""
    if not content.strip():
        return None
    try:
        reported: Any = json.loads(content)
        port = reported.get("port")
    except (ValueError, AttributeError, RecursionError):
        return Traces(name)
    return Traces(
        name,
        created=reported.get("created") is True,
        port=port if isinstance(port, int) else None,
    )


# What the emulator accepts; it listens on this one and on the next.
FIRST_PORT, LAST_PORT = 5554, 5682

_HOST = "127.0.0.1"


@contextmanager
def reserved_port(accept: Callable[[int], bool] = lambda _: True) -> Iterator[int]:
    """Yield a port that is free, and that no other run of this machine takes meanwhile.

    ``accept`` is asked whether a free one may be taken.
    """
    lock, port = _reserve(accept)
    try:
        yield port
    finally:
        lock.discard()


def is_free(port: int) -> bool:
    """Return whether a port of this machine is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError:
            return False
    return True


def left_ports() -> Iterator[int]:
    """Yield the ports that runs had reserved when they were killed; they are not any more."""
    for port in range(FIRST_PORT, LAST_PORT + 1, 2):
        path = _port_path(port)
        with suppress(ConfigurationError):  # not a lock file, so not ours
            if path.exists() and (lock := lock_standing(path)) is not None:
                lock.discard()
                yield port


def _reserve(accept: Callable[[int], bool]) -> tuple[LockFile, int]:
    for port in range(FIRST_PORT, LAST_PORT + 1, 2):
        if (lock := lock_standing(_port_path(port))) is None:
            continue
        try:
            if is_free(port) and is_free(port + 1) and accept(port):
                return lock, port
        except BaseException:
            lock.discard()
            raise
        lock.discard()
    raise EmulatorError(
        f"all ports for emulators, {FIRST_PORT} to {LAST_PORT}, are taken",
        hint="End emulators that are not needed: `adb devices` lists them.",
    )


def _port_path(port: int) -> Path:
    return lock_path(f"{_HOST}:{port}", "port")
