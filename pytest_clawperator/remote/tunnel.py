"""The adb server of another machine, reached through the tunnel of a service there."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override

from pytest_clawperator.errors import (
    AdbUnavailableError,
    ClawperatorError,
    ErrorCode,
    LeaseError,
    TransportError,
    known_code,
)
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import SERVICE_PREFIX, AdbServer, mapped, time_left

_PATH = "/v1/adb"

_LONGEST_HEAD = 16 * 1024

_LONGEST_BODY = 64 * 1024

_PORTS = {"http": 80, "https": 443}


def service_key(url: str, serial: str) -> str:
    """Return the key of a device of a service."""
    return f"{SERVICE_PREFIX}{url}/{serial}"


@dataclass(frozen=True)
class ServiceAdb(AdbServer):
    """An adb server behind a service; ``lease`` is that of the device which is used.

    Once the service has let a connection in, it is one to the adb server.
    """

    url: str = ""
    token: str | None = field(default=None, repr=False)
    lease: str | None = field(default=None, repr=False, compare=False)

    @classmethod
    def at(cls, url: str, *, token: str | None, lease: str | None = None) -> ServiceAdb:
        """Return the adb server behind the service at a URL that was checked."""
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme.lower()]
        return cls(parts.hostname or "", port, url=url.rstrip("/"), token=token, lease=lease)

    def __str__(self) -> str:
        return self.url

    @override
    def device_key(self, serial: str) -> str:
        """Return the key of a device of the service."""
        return service_key(self.url, serial)

    @override
    def _connect(self, timeout: float) -> socket.socket:
        deadline = time.monotonic() + timeout
        connection = self._dial(timeout)
        try:
            with mapped(within=timeout):
                connection.settimeout(time_left(deadline))
                connection.sendall(self._request())
                head, rest = _read_head(connection, deadline)
                status = head.split(b" ", 2)[1:2]
                if status != [b"101"]:
                    raise _refusal(self.url, head, _read_body(connection, rest, deadline))
        except BaseException:
            connection.close()
            raise
        return connection

    def _dial(self, timeout: float) -> socket.socket:
        connection = None
        try:
            connection = socket.create_connection((self.host, self.port), max(timeout, 1e-6))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not self.url.lower().startswith("https:"):
                return connection
            import ssl  # few need it, and it takes long to import

            return ssl.create_default_context().wrap_socket(connection, server_hostname=self.host)
        except (OSError, ValueError) as error:
            if connection is not None:
                connection.close()
            raise AdbUnavailableError(
                f"nothing answers at {self.url} ({error})",
                code=ErrorCode.REMOTE_HOST_UNREACHABLE,
                hint="Start the service there: `clawperator-py serve`, or correct the URL.",
            ) from error

    def _request(self) -> bytes:
        host = f"[{self.host}]" if ":" in self.host else self.host
        headers = [f"host: {host}:{self.port}", "connection: upgrade", "upgrade: adb"]
        headers += [f"authorization: Bearer {self.token}"] if self.token else []
        headers += [f"clawperator-lease: {self.lease}"] if self.lease else []
        return "\r\n".join([f"POST {_PATH} HTTP/1.1", *headers, "", ""]).encode()


def _read_head(connection: socket.socket, deadline: float) -> tuple[bytes, bytes]:
    """Return the head of the answer, and what came after it."""
    received = bytearray()
    while (end := received.find(b"\r\n\r\n")) < 0:
        connection.settimeout(time_left(deadline))
        data = connection.recv(4096)
        if not data or len(received) > _LONGEST_HEAD:
            raise EOFError(f"the answer is not HTTP: {bytes(received[:100])!r}")
        received += data
    return bytes(received[:end]), bytes(received[end + 4 :])


def _read_body(connection: socket.socket, rest: bytes, deadline: float) -> bytes:
    """Return the body of a refusal, after which the service closes the connection."""
    body = bytearray(rest)
    while len(body) < _LONGEST_BODY:
        connection.settimeout(time_left(deadline))
        data = connection.recv(4096)
        if not data:
            break
        body += data
    return bytes(body)


def _refusal(url: str, head: bytes, body: bytes) -> ClawperatorError:
    try:
        reported: Any = json.loads(body)["error"]
        code, message = known_code(str(reported["code"])), str(reported["message"])
        hint = str(reported.get("hint") or "See the output of the service.")
    except (ValueError, KeyError, TypeError, AttributeError):
        first = head.split(b"\r\n", 1)[0].decode("latin-1")
        return TransportError(
            f"{url} let nothing through to its adb server: it answered {first!r}",
            code=ErrorCode.REMOTE_ANSWER_UNREADABLE,
            hint="Check that the URL is that of `clawperator-py serve`, with no proxy in between.",
        )
    if code == ErrorCode.DEVICE_LEASED:
        return LeaseError(message, code=code, hint=hint)
    return AdbUnavailableError(message, code=code, hint=hint)


class LeasedTransport(AdbTransport):
    """A device behind a service; closing it releases its lease."""

    def __init__(
        self,
        server: ServiceAdb,
        serial: str,
        *,
        on_notice: Callable[[str], None],
        release: Callable[[], None],
    ) -> None:
        super().__init__(server, serial, on_notice=on_notice)
        self._release = release

    @override
    def close(self) -> None:
        """End every connection, and the lease."""
        try:
            super().close()
        finally:
            self._release()
