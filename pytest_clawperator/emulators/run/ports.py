"""Ports for the consoles of emulators, which two runs never share."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_clawperator.errors import EmulatorError
from pytest_clawperator.execution.locks.folder import lock_path
from pytest_clawperator.execution.locks.lock_file import LockFile, lock_standing

# What the emulator accepts; it listens on this one and on the next.
FIRST, LAST = 5554, 5682
_HOST = "127.0.0.1"


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a port that is free, and that no other run of this machine takes meanwhile."""
    lock, port = _reserve()
    try:
        yield port
    finally:
        lock.close()


def _reserve() -> tuple[LockFile, int]:
    for port in range(FIRST, LAST + 1, 2):
        lock = lock_standing(lock_path(f"{_HOST}:{port}", "port"))
        if lock is None:
            continue
        if is_free(port) and is_free(port + 1):
            return lock, port
        lock.close()
    raise EmulatorError(
        f"all ports for emulators, {FIRST} to {LAST}, are taken",
        hint="End emulators that are not needed: `adb devices` lists them.",
    )


def is_free(port: int) -> bool:
    """Whether nobody listens on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError:
            return False
    return True
