"""Ports for the consoles of emulators, which two runs never share."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError, EmulatorError
from pytest_clawperator.execution.lock_file import LockFile, lock_path, lock_standing

# What the emulator accepts; it listens on this one and on the next.
FIRST, LAST = 5554, 5682
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
    """Whether nobody listens on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError:
            return False
    return True


def left_ports() -> Iterator[int]:
    """Yield the ports that runs had reserved when they were killed; they are not any more."""
    for port in range(FIRST, LAST + 1, 2):
        path = _path(port)
        with suppress(ConfigurationError):  # what is no lock file is not ours
            if path.exists() and (lock := lock_standing(path)) is not None:
                lock.discard()
                yield port


def _reserve(accept: Callable[[int], bool]) -> tuple[LockFile, int]:
    for port in range(FIRST, LAST + 1, 2):
        if (lock := lock_standing(_path(port))) is None:
            continue
        try:
            if is_free(port) and is_free(port + 1) and accept(port):
                return lock, port
        except BaseException:
            lock.discard()
            raise
        lock.discard()
    raise EmulatorError(
        f"all ports for emulators, {FIRST} to {LAST}, are taken",
        hint="End emulators that are not needed: `adb devices` lists them.",
    )


def _path(port: int) -> Path:
    return lock_path(f"{_HOST}:{port}", "port")
