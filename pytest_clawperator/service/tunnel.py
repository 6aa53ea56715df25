"""A tunnel to adb: the adb server's own protocol, for the device that a client has leased.

A client sends ``POST /v1/adb`` with ``Upgrade: adb``; after the answer 101 the connection leads to
the adb server. Its requests are checked: only harmless requests to the server pass, and a device
needs its lease. One request is answered here: ``clawperator:busy:MS`` renews the lease, and
announces how long the device may be busy from now.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from enum import Enum
from typing import Any

from pytest_clawperator.errors import ClawperatorError, LeaseError
from pytest_clawperator.service.endpoints import Refused, error_object, plain_answer, status_of
from pytest_clawperator.service.gate import Gate
from pytest_clawperator.service.leasing import Leasing, ServiceLease
from pytest_clawperator.transport.wire import MAX_REQUEST, AdbServer, acknowledge

PATH = "/v1/adb"
LEASE_HEADER = "clawperator-lease"
#: How long a client without a lease may wait before its first request, in seconds.
ASKED_WITHIN = 20.0
_SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: adb\r\nconnection: upgrade\r\n\r\n"
_HARMLESS = {"host:version", "host:devices", "host:devices-l", "host:reconnect-offline"}
# Questions about one device. A serial may contain colons, so it is compared with the listed ones:
# adb would read anything else in its place as a separate request.
_QUESTION = re.compile(r"host-serial:(.+):(?:get-state|features)", re.DOTALL)
_LENGTH = re.compile(rb"[0-9a-fA-F]{4}")
_BUSY = re.compile(r"clawperator:busy:([0-9]{1,9})")
# What a test does on a device; not, for example, restarting its adb or opening ports.
_SERVICES = ("exec:", "shell:", "shell,", "sync:")


class Tunnels:
    """Open tunnels, and close them with their leases."""

    def __init__(self, server: AdbServer, *, gate: Gate, leasing: Leasing) -> None:
        self._server = server
        self._gate = gate
        self._leasing = leasing
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[_FromClient] = set()

    def take_over(self, transport: asyncio.Transport, head: bytes, rest: bytes) -> None:
        """Turn a connection into a tunnel, or refuse it."""
        try:
            lease = self._check(_headers(head))
        except Refused as refusal:
            transport.write(plain_answer(refusal))
            transport.close()
            return
        client = _FromClient(transport, lease, self._leasing, is_listed=self._is_listed)
        transport.set_protocol(client)
        self._open.add(client)
        client.on_close = lambda: self._forget(client, lease)
        if lease is not None:
            lease.on_end.append(client.close)
        self._start(self._connect(client, rest))

    def close(self) -> None:
        """Close all tunnels."""
        for client in list(self._open):
            client.close()

    def _check(self, headers: Mapping[str, str]) -> ServiceLease | None:
        self._gate.check("POST", PATH, headers)
        if headers.get("upgrade", "").lower() != "adb":
            raise Refused(426, "UPGRADE_REQUIRED", "this path is for tunnels: send `Upgrade: adb`")
        token = headers.get(LEASE_HEADER)
        try:
            return None if token is None else self._leasing.find(token)
        except LeaseError as error:
            refusal = Refused(status_of(error), str(error.code), error.message)
            refusal.error = error_object(error)
            raise refusal from error

    async def _is_listed(self, serial: str) -> bool:
        """Whether the adb server lists a device with exactly this serial."""
        try:
            devices = await asyncio.to_thread(self._server.devices)
        except ClawperatorError:
            return False
        return any(serial == listed for listed, _ in devices)

    async def _connect(self, client: _FromClient, rest: bytes) -> None:
        """Connect to the adb server, and start passing bytes."""
        loop, server = asyncio.get_running_loop(), self._server
        try:
            connecting: Coroutine[Any, Any, Any] = (
                loop.create_connection(lambda: _FromAdb(client), server.host, server.port)
                if server.path is None
                else loop.create_unix_connection(lambda: _FromAdb(client), server.path)
            )
            adb, _ = await asyncio.wait_for(connecting, 5.0)
        except (OSError, asyncio.TimeoutError) as error:
            problem = f"no adb server answers at {server} ({error})"
            client.transport.write(plain_answer(Refused(502, "ADB_SERVER_FAILED", problem)))
            client.close()
            return
        client.transport.write(_SWITCHED)
        client.begin(adb, rest)
        loop.call_later(ASKED_WITHIN, client.close_unasked)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _forget(self, client: _FromClient, lease: ServiceLease | None) -> None:
        self._open.discard(client)
        if lease is not None:
            with contextlib.suppress(ValueError):
                lease.on_end.remove(client.close)


class _Stage(Enum):
    """What a client may send next."""

    HOST = "a request to the adb server"
    DEVICE = "a service of the leased device"
    OPEN = "anything: the bytes belong to that service"
    ASKED = "nothing more: the answer ends the connection"


class _FromClient(asyncio.Protocol):
    """The client's end: its requests are checked one by one.

    Bytes pass unchecked only after a service of the leased device was opened; after a request to
    the adb server itself nothing more is passed on.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        lease: ServiceLease | None,
        leasing: Leasing,
        *,
        is_listed: Callable[[str], Awaitable[bool]],
    ) -> None:
        self.transport = transport
        self.on_close: Callable[[], None] = lambda: None
        self._lease = lease
        self._leasing = leasing
        self._is_listed = is_listed
        self._adb: asyncio.Transport | None = None
        self._received = bytearray()
        self._stage = _Stage.HOST
        self._lookup: asyncio.Task[None] | None = None

    def begin(self, adb: asyncio.Transport, rest: bytes) -> None:
        """Start passing bytes to the adb server."""
        self._adb = adb
        if self.transport.is_closing():
            adb.close()
        self.data_received(rest)

    def close_unasked(self) -> None:
        """Close a tunnel without a lease and without a request."""
        if self._lease is None and self._stage is _Stage.HOST:
            self.close()

    def data_received(self, data: bytes) -> None:
        """Pass bytes on, requests only once they are checked."""
        if self._stage is _Stage.OPEN and self._adb is not None:
            self._adb.write(data)
        elif self._stage is not _Stage.ASKED:
            self._received += data
            self._read_requests()

    def _read_requests(self) -> None:
        """Check the requests that have arrived whole."""
        while self._adb is not None and (whole := self._next_request()) is not None:
            self._judge(whole)
        if self._stage is _Stage.OPEN and self._received and self._adb is not None:
            self._adb.write(bytes(self._received))
            self._received.clear()
        elif len(self._received) > MAX_REQUEST + 4:
            self._fail("a request is too long")

    def _next_request(self) -> bytes | None:
        """Return a whole request with its length, if there is one to check."""
        if self._stage not in (_Stage.HOST, _Stage.DEVICE) or len(self._received) < 4:
            return None
        if not _LENGTH.fullmatch(self._received, 0, 4):
            self._fail("this is not a request of adb's protocol")
            return None
        end = 4 + int(self._received[:4], 16)
        if len(self._received) < end:
            return None
        whole = bytes(self._received[:end])
        del self._received[:end]
        return whole

    def _judge(self, whole: bytes) -> None:
        """Pass a request on if it is on the list; else refuse it."""
        request = whole[4:].decode("utf-8", "replace")
        device = None if self._lease is None else self._lease.serial
        if self._stage is _Stage.DEVICE:
            if request.startswith(_SERVICES):
                self._pass_on(whole, _Stage.OPEN)
            else:
                self._fail(f"{request.partition(':')[0][:50]!r} is not offered here")
        elif busy := _BUSY.fullmatch(request):
            self._note(int(busy[1]) / 1000)
        elif request.startswith("host:transport:"):
            if device is not None and request == f"host:transport:{device}":
                self._pass_on(whole, _Stage.DEVICE)
            else:
                self._fail("this needs a lease of the device: POST /v1/leases")
        elif request in _HARMLESS or (device and request == f"host:connect:{device}"):
            self._pass_on(whole, _Stage.ASKED)
        elif question := _QUESTION.fullmatch(request):
            self._ask_about(question[1], whole)
        else:
            self._fail(f"{request[:50]!r} is not offered here")

    def _ask_about(self, serial: str, whole: bytes) -> None:
        """Pass a question about one device on, if there is such a device."""
        if self._lease is not None and serial == self._lease.serial:
            self._pass_on(whole, _Stage.ASKED)
            return
        self._stage = _Stage.ASKED
        self._lookup = asyncio.get_running_loop().create_task(self._look_up(serial, whole))

    async def _look_up(self, serial: str, whole: bytes) -> None:
        is_listed = await self._is_listed(serial)
        if self.transport.is_closing():
            return
        if is_listed:
            self._pass_on(whole, _Stage.ASKED)
        else:
            self._fail(f"device '{serial[:200]}' not found")

    def _pass_on(self, whole: bytes, stage: _Stage) -> None:
        """Send a checked request to the adb server."""
        self._stage = stage
        if stage is _Stage.ASKED:
            self._received.clear()
        assert self._adb is not None
        self._adb.write(whole)

    def _note(self, seconds: float) -> None:
        """Renew the lease, and note how long the device may be busy."""
        try:
            self._leasing.note_flight(self._lease.token if self._lease else "", seconds)
        except LeaseError as error:
            self._fail(error.message)
        else:
            self.transport.write(b"OKAY")

    def _fail(self, why: str) -> None:
        reason = why.encode()
        self._stage = _Stage.ASKED
        self._received.clear()
        self.transport.write(b"FAIL%04x%b" % (len(reason), reason))
        self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the other end."""
        self.close()

    def pause_writing(self) -> None:
        """Read no more from adb: the client is slow."""
        if self._adb is not None:
            with contextlib.suppress(RuntimeError):
                self._adb.pause_reading()

    def resume_writing(self) -> None:
        """Read from adb again."""
        if self._adb is not None:
            with contextlib.suppress(RuntimeError):
                self._adb.resume_reading()

    def close(self) -> None:
        """Close both ends; what was written is sent before."""
        self.transport.close()
        if self._adb is not None:
            self._adb.close()
        self.on_close()


class _FromAdb(asyncio.Protocol):
    """The end at the adb server."""

    def __init__(self, client: _FromClient) -> None:
        self._client = client
        self._socket: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the socket."""
        self._socket = transport.get_extra_info("socket")

    def data_received(self, data: bytes) -> None:
        """Pass bytes on to the client."""
        self._client.transport.write(data)
        acknowledge(self._socket)

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the client's end."""
        self._client.close()

    def pause_writing(self) -> None:
        """Read no more from the client: adb is slow."""
        with contextlib.suppress(RuntimeError):
            self._client.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read from the client again."""
        with contextlib.suppress(RuntimeError):
            self._client.transport.resume_reading()


def _headers(head: bytes) -> dict[str, str]:
    """Return the headers of a request by their names in lower case."""
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
