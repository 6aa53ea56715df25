"""adbd, the device's end of adb: admits hosts and runs the services that they open streams to."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from pytest_clawperator.simulator.wire.forwarding import Sockets, reverse_reply
from pytest_clawperator.simulator.wire.stream import (
    AUTH,
    CLSE,
    CNXN,
    MAX_PAYLOAD,
    OKAY,
    OPEN,
    VERSION,
    WRTE,
    Channel,
    MessageReader,
    Outbox,
    ProtocolBroken,
    ServiceRefused,
    Stream,
    StreamClosed,
)

FEATURES = ("shell_v2", "cmd", "fixed_push_mkdir")
"""What adbd announces to hosts."""

_AUTH_TOKEN, _AUTH_SIGNATURE = 1, 2
# What the host is asked to sign. No signature is ever accepted, so it need not be a secret.
_TOKEN = bytes(range(20))
_log = logging.getLogger(__name__)


class Served(Protocol):
    """What adbd needs of a device."""

    @property
    def banner(self) -> str:
        """The properties in its greeting, as ``name=value;name=value``."""

    @property
    def features(self) -> Sequence[str]:
        """What its adbd can do; the oldest ones announce nothing."""

    @property
    def sockets(self) -> Sockets:
        """The sockets on which it listens."""

    def admission(self) -> Literal["device", "offline", "unauthorized"]:
        """Return how a host that connects now is received."""

    async def serve(self, destination: str, stream: Stream) -> None:
        """Run a service until it is done; raise ``ServiceRefused`` first for unknown ones.

        When the host closes the stream, reading ends and writing raises; a service may
        still finish its work. When the whole connection goes, the service is cancelled.
        """


class Connection(asyncio.Protocol):
    """One host: handles its messages and runs the services that it opens streams to."""

    def __init__(self, device: Served, connections: set[Connection]) -> None:
        self._device = device
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._reader = MessageReader(self._handle)
        self._outbox = Outbox()
        self._admitted = False
        self._streams: dict[int, Channel] = {}
        self._tasks: dict[asyncio.Task[None], Channel] = {}
        self._last_id = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to serve a host."""
        assert isinstance(transport, asyncio.Transport)
        self._outbox.transport = transport
        self._connections.add(self)
        link = transport.get_extra_info("socket")
        if link.family == socket.AF_INET:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the services of a host that is gone."""
        self._outbox.transport = None
        self._end_streams()
        self._leave_when_done()

    def data_received(self, data: bytes) -> None:
        """Handle the messages in what arrived."""
        try:
            self._reader.feed(data)
        except ProtocolBroken:
            self.drop()

    def drop(self) -> None:
        """Close the connection immediately."""
        if self._outbox.transport is not None:
            self._outbox.transport.abort()
            self._outbox.transport = None
        self._reader.clear()
        self._end_streams()

    async def services_ended(self) -> None:
        """Wait until no service of this host runs any more."""
        others = self._tasks.keys() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)

    async def dial(self, destination: str) -> Channel:
        """Open a stream to a socket of the host's; ConnectionError if it refuses."""
        channel = Channel(self._outbox, self._next_id(), 0, on_close=self._forget)
        self._streams[channel.local_id] = channel
        payload = destination.encode("utf-8", "surrogateescape") + b"\0"
        self._outbox.send(OPEN, channel.local_id, 0, payload)
        try:
            if await channel.answered():
                return channel
        except asyncio.CancelledError:
            channel.finish()
            raise
        raise ConnectionRefusedError(f"the host does not connect to {destination}")

    def _handle(self, command: int, arg0: int, arg1: int, payload: bytes) -> None:
        if command == CNXN:
            self._greet(arg0, arg1)
        elif not self._admitted:
            if command != AUTH:
                raise ProtocolBroken
            if arg0 == _AUTH_SIGNATURE:
                self._outbox.send(AUTH, _AUTH_TOKEN, 0, _TOKEN)
        elif command == OPEN:
            self._open(arg0, payload)
        elif command in (OKAY, WRTE, CLSE):
            channel = self._streams.get(arg1)
            # A host may still talk about a stream that has just been closed.
            if channel is None or (channel.remote_id and arg0 not in (0, channel.remote_id)):
                return
            if command == OKAY:
                channel.acknowledged(arg0)
            elif command == WRTE:
                channel.receive(payload)
            else:
                channel.host_closed()
        else:
            raise ProtocolBroken

    def _greet(self, version: int, max_payload: int) -> None:
        if version < VERSION or not max_payload:
            raise ProtocolBroken
        self._end_streams()
        self._admitted = False
        admission = self._device.admission()
        if admission == "unauthorized":
            self._outbox.send(AUTH, _AUTH_TOKEN, 0, _TOKEN)
        elif admission == "device":
            self._admitted = True
            self._outbox.max_payload = min(max_payload, MAX_PAYLOAD)
            features = self._device.features
            announced = f"features={','.join(features)}" if features else ""
            banner = f"device::{self._device.banner.rstrip(';')};{announced}"
            self._outbox.send(CNXN, VERSION, MAX_PAYLOAD, banner.encode("utf-8", "replace"))

    def _open(self, remote_id: int, payload: bytes) -> None:
        if not remote_id:
            raise ProtocolBroken
        channel = Channel(self._outbox, self._next_id(), remote_id, on_close=self._forget)
        self._streams[channel.local_id] = channel
        destination = payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
        task = self._loop.create_task(self._serve(destination, channel))
        self._tasks[task] = channel
        channel.task = task
        self._outbox.ask_for_turn(channel)

    def _next_id(self) -> int:
        self._last_id = self._last_id % 0xFFFFFFFF + 1
        while self._last_id in self._streams:
            self._last_id = self._last_id % 0xFFFFFFFF + 1
        return self._last_id

    def _forget(self, channel: Channel) -> None:
        self._streams.pop(channel.local_id, None)

    async def _serve(self, destination: str, channel: Channel) -> None:
        channel.started = True
        try:
            if destination == "reconnect":
                await channel.write(b"done")
                # Runs after the flush that the write has asked for.
                self._loop.call_soon(self.drop)
            elif destination.startswith("reverse:"):
                request = destination.removeprefix("reverse:")
                sockets = self._device.sockets
                await channel.write(reverse_reply(request, sockets=sockets, host=self))
            else:
                await self._device.serve(destination, channel)
        except ServiceRefused:
            channel.refused = True
        except StreamClosed:
            pass
        except Exception:  # a bug in one service must not end the others
            _log.exception("the service %.100r failed", destination)
        finally:
            channel.finish()
            if channel.task is not None:
                self._tasks.pop(channel.task, None)
            self._leave_when_done()

    def _end_streams(self) -> None:
        self._device.sockets.close_all(self)
        for channel in list(self._streams.values()):
            channel.connection_lost()
        self._streams.clear()
        for task, channel in list(self._tasks.items()):
            # Only once: a service that is cleaning up must not be disturbed.
            if not channel.abandoned:
                channel.abandoned = True
                task.cancel()
            if not channel.started:
                # It never will be, so it cannot take itself off the list.
                del self._tasks[task]

    def _leave_when_done(self) -> None:
        if self._outbox.transport is None and not self._tasks:
            self._connections.discard(self)


class Adbd:
    """Listens for hosts on behalf of one device."""

    def __init__(self, device: Served) -> None:
        self._device = device
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()

    async def start(self, *, port: int = 0) -> int:
        """Listen on the loopback interface and return the port; 0 lets the system choose."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._answer, "127.0.0.1", port)
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def start_at(self, path: Path) -> None:
        """Listen on a Unix socket; one that was there before is gone with its server."""
        loop = asyncio.get_running_loop()
        if self._server is not None:
            self._server.close()
        self._server = await loop.create_unix_server(self._answer, path)

    def _answer(self) -> asyncio.Protocol:
        return Connection(self._device, self._connections)

    async def stop(self) -> None:
        """Stop listening, disconnect every host and wait until its services have ended."""
        if self._server is not None:
            self._server.close()
            self._server = None
        connections = list(self._connections)
        self.drop_connections()
        for connection in connections:
            await connection.services_ended()

    def drop_connections(self) -> None:
        """Disconnect every host, as if the cable was pulled."""
        for connection in list(self._connections):
            connection.drop()
