"""Files to and from a device: adbutils' sync, on connections that we open.

Importing adbutils takes 170 ms, and most runs move no file: import this module at its first use.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# adbutils ships no types, so mypy knows neither its names nor what a subclass inherits.
from adbutils import AdbConnection  # type: ignore[import-untyped]  # adbutils has no types
from adbutils.errors import AdbError, AdbSyncError  # type: ignore[import-untyped]  # nor here
from adbutils.sync import Sync  # type: ignore[import-untyped]  # nor here

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport.wire import AdbServer, mapped

_MODE = 0o644
# How long a transfer may stand still; how long it takes in all depends on its size.
_STALL = 60.0

# What each exception of adbutils means here.
FOREIGN: dict[str, tuple[type[errors.TransportError], ErrorCode]] = {
    "AdbError": (errors.TransportError, ErrorCode.FILE_UNAVAILABLE),
    "AdbTimeout": (errors.TransportTimeoutError, ErrorCode.TRANSPORT_TIMEOUT),
    "AdbConnectionError": (errors.AdbUnavailableError, ErrorCode.ADB_SERVER_FAILED),
    "AdbInstallError": (errors.TransportError, ErrorCode.ANDROID_INSTALL_FAILED),
    "AdbSyncError": (errors.TransportError, ErrorCode.FILE_UNAVAILABLE),
}
# What it raises by accident when an answer is not what it expects.
_ACCIDENTS = (AssertionError, ValueError, struct.error)


@dataclass(frozen=True)
class FileTransfer:
    """Writes and reads files of one device."""

    server: AdbServer
    serial: str

    def push(self, source: bytes | Path, path: str) -> None:
        """Write a file on the device; into a directory, under the source's own name."""
        if isinstance(source, Path) and not errors.is_file(source):
            raise errors.TransportError(
                f"there is no file {str(source)!r} to push",
                code=ErrorCode.FILE_UNAVAILABLE,
                serial=self.serial,
                hint="Correct the path; a relative one begins at the current directory.",
            )
        with _mapped(self.serial, f"push to {path}"):
            self._sync().push(source, path, mode=_MODE)

    def pull(self, path: str) -> bytes:
        """Return the content of a file of the device."""
        with _mapped(self.serial, f"pull of {path}"):
            data: bytes = self._sync().read_bytes(path)
        return data

    def _sync(self) -> Any:
        return Sync(_Device(lambda: self.server.open_transport(self.serial, timeout=_STALL)))


class _Device:
    """What adbutils' sync needs of a device."""

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self._connect = connect

    def open_transport(self, **_: object) -> Any:
        """Open a connection to the device."""
        return _Connection(self._connect)


class _Connection(AdbConnection):  # type: ignore[misc]  # a class without types
    """A connection that never starts a server, writes whole, and raises a refusal."""

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self._connect = connect
        super().__init__("", 0)

    def _safe_connect(self) -> _Whole:
        return _Whole(self._connect())

    def read_string(self, n: int) -> str:
        """Read so many bytes of text; raise what follows the word FAIL."""
        text: str = super().read_string(n)
        if text == "FAIL":
            raise AdbSyncError(super().read_string(self.read_uint32()))
        return text

    def close(self) -> None:
        """Close the connection."""
        self.conn.close()


class _Whole:
    """A socket that sends everything and receives all that is asked for, as adbutils expects."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(_STALL)
        self.send = connection.sendall
        self.close = connection.close
        self._recv = connection.recv

    def recv(self, size: int) -> bytes:
        """Receive so many bytes; fewer only at the end of the connection."""
        data = self._recv(size)
        while 0 < len(data) < size and (more := self._recv(size - len(data))):
            data += more
        return data


@contextmanager
def _mapped(serial: str, doing: str) -> Iterator[None]:
    try:
        with mapped(serial=serial, doing=doing):
            yield
    except (AdbError, *_ACCIDENTS) as error:
        kind, code = FOREIGN.get(type(error).__name__, FOREIGN["AdbError"])
        raise kind(
            f"the {doing} failed: {error or type(error).__name__}",
            code=code,
            serial=serial,
            hint="See with `adb shell ls -l` whether the path is there and may be used.",
        ) from error
