"""The device's end of the adb protocol: messages, streams and flow control on TCP."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections import deque
from typing import Literal, Protocol

VERSION_MIN = 0x01000000
# From this version on, messages carry no checksum.
VERSION = 0x01000001
MAX_PAYLOAD = 1024 * 1024
FEATURES = ("shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir")

_HEADER = struct.Struct("<6I")
_HEADER_SIZE = _HEADER.size
_CNXN, _AUTH, _OPEN, _OKAY, _WRTE, _CLSE = (
    int.from_bytes(name, "little")
    for name in (b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"WRTE", b"CLSE")
)
_AUTH_TOKEN, _AUTH_SIGNATURE = 1, 2
# What the host is asked to sign. No signature is ever accepted, so it need not be a secret.
_TOKEN = bytes(range(20))

_MAX_STREAMS = 1024
_MAX_UNREAD = 4 * MAX_PAYLOAD
# A host that does not take its answers is not listened to any more above this.
_MAX_UNSENT = 8 * MAX_PAYLOAD

_log = logging.getLogger(__name__)


class StreamClosed(Exception):
    """The host has closed the stream or is gone, so nothing more can be written."""


class ServiceRefused(Exception):
    """The device has no such service; the host is told so instead of getting a stream."""


class Stream(Protocol):
    """One conversation between the host and a service of the device."""

    async def read(self) -> bytes:
        """Give the next bytes from the host, or nothing once it closed its side."""

    async def write(self, data: bytes) -> None:
        """Send bytes to the host in one piece of the stream, waiting while it is busy."""


class Served(Protocol):
    """What adbd needs of a device."""

    @property
    def banner(self) -> str:
        """The properties a host learns at once, as ``name=value;name=value``."""

    def admission(self) -> Literal["device", "offline", "unauthorized"]:
        """Say how a host that connects now is received."""

    async def serve(self, destination: str, stream: Stream) -> None:
        """Run a service until it is done; raise ``ServiceRefused`` at once for unknown ones.

        When the host closes the stream, reading ends and writing raises; a service may
        still finish its work. When the whole connection goes, the service is cancelled.
        """


class Adbd:
    """Listens for hosts on behalf of one device."""

    def __init__(self, device: Served) -> None:
        self._device = device
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()

    async def start(self, *, port: int = 0) -> int:
        """Listen on the loopback interface and give the port; 0 lets the system choose."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Connection(self._device, self._connections), "127.0.0.1", port
        )
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        """Listen no more, disconnect every host and wait until its services have ended."""
        if self._server is not None:
            self._server.close()
            self._server = None
        connections = list(self._connections)
        self.drop_connections()
        for connection in connections:
            await connection.services_ended()

    def drop_connections(self) -> None:
        """Disconnect every host at once, as if the cable was pulled."""
        for connection in list(self._connections):
            connection.drop()


class _Broken(Exception):
    """The host does not speak the protocol; its connection ends."""


class _Connection(asyncio.Protocol):
    """One host: takes its messages apart and sends what the streams have to say."""

    def __init__(self, device: Served, connections: set[_Connection]) -> None:
        self.max_payload = MAX_PAYLOAD
        self._device = device
        self._connections = connections
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._admitted = False
        self._version = VERSION_MIN
        self._streams: dict[int, _Channel] = {}
        self._tasks: dict[asyncio.Task[None], _Channel] = {}
        self._last_id = 0
        self._outgoing: list[bytes] = []
        self._waiting: list[_Channel] = []
        self._flush_is_due = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)
        transport.set_write_buffer_limits(high=_MAX_UNSENT)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._end_streams()
        self._leave_when_done()

    def pause_writing(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        try:
            if self._received:
                self._received += data
                del self._received[: self._take_messages(self._received)]
            else:
                # Mostly whole messages arrive, which then need not be copied.
                self._received += data[self._take_messages(data) :]
        except _Broken:
            self.drop()

    def drop(self) -> None:
        """End the connection without a word."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        self._received.clear()
        self._end_streams()

    async def services_ended(self) -> None:
        """Wait until no service of this host runs any more."""
        others = self._tasks.keys() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)

    def send(self, command: int, arg0: int, arg1: int, payload: bytes = b"") -> None:
        """Queue a message; everything queued in one turn of the loop leaves in one write."""
        checksum = sum(payload) if self._version < VERSION else 0
        size = len(payload)
        header = _HEADER.pack(command, arg0, arg1, size, checksum, command ^ 0xFFFFFFFF)
        self._outgoing.append(header)
        if size:
            self._outgoing.append(payload)
        self._flush_soon()

    def ask_for_turn(self, channel: _Channel) -> None:
        """Let a stream send what it has when this turn of the loop ends."""
        if not channel.has_turn:
            channel.has_turn = True
            self._waiting.append(channel)
            self._flush_soon()

    def forget(self, channel: _Channel) -> None:
        """Free the number of a stream that is over."""
        self._streams.pop(channel.local_id, None)

    def _flush_soon(self) -> None:
        if not self._flush_is_due:
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for channel in waiting:
            channel.has_turn = False
            channel.take_turn()
        self._flush_is_due = False
        if self._waiting:
            self._flush_soon()
        outgoing, self._outgoing = self._outgoing, []
        if outgoing and self._transport is not None:
            self._transport.write(b"".join(outgoing))

    def _take_messages(self, received: bytes | bytearray) -> int:
        """Handle every whole message and give how many bytes they were."""
        used = 0
        available = len(received)
        while available - used >= _HEADER_SIZE:
            command, arg0, arg1, size, checksum, magic = _HEADER.unpack_from(received, used)
            if magic != command ^ 0xFFFFFFFF or size > MAX_PAYLOAD:
                raise _Broken
            start = used + _HEADER_SIZE
            end = start + size
            if end > available:
                break
            payload = bytes(received[start:end]) if size else b""
            used = end
            # Before both sides know the version, a host may or may not have filled it in.
            if self._admitted and self._version < VERSION and sum(payload) != checksum:
                raise _Broken
            self._handle(command, arg0, arg1, payload)
        return used

    def _handle(self, command: int, arg0: int, arg1: int, payload: bytes) -> None:
        if command == _CNXN:
            self._greet(arg0, arg1)
        elif not self._admitted:
            if command != _AUTH:
                raise _Broken
            if arg0 == _AUTH_SIGNATURE:
                self.send(_AUTH, _AUTH_TOKEN, 0, _TOKEN)
        elif command == _OPEN:
            self._open(arg0, payload)
        elif command in (_OKAY, _WRTE, _CLSE):
            channel = self._streams.get(arg1)
            # A host may still talk about a stream that has just been closed.
            if channel is None or arg0 not in (0, channel.remote_id):
                return
            if command == _OKAY:
                channel.acknowledged()
            elif command == _WRTE:
                channel.receive(payload)
            else:
                channel.host_closed()
        else:
            raise _Broken

    def _greet(self, version: int, max_payload: int) -> None:
        if version < VERSION_MIN or not max_payload:
            raise _Broken
        self._end_streams()
        self._admitted = False
        self._version = VERSION_MIN
        admission = self._device.admission()
        if admission == "unauthorized":
            self.send(_AUTH, _AUTH_TOKEN, 0, _TOKEN)
        elif admission == "device":
            self._admitted = True
            self.max_payload = min(max_payload, MAX_PAYLOAD)
            properties = self._device.banner.rstrip(";")
            banner = f"device::{properties};features={','.join(FEATURES)}"
            self.send(_CNXN, VERSION, MAX_PAYLOAD, banner.encode("utf-8", "replace"))
            self._version = min(version, VERSION)

    def _open(self, remote_id: int, payload: bytes) -> None:
        if not remote_id:
            raise _Broken
        if len(self._tasks) >= _MAX_STREAMS:
            self.send(_CLSE, 0, remote_id)
            return
        self._last_id = self._last_id % 0xFFFFFFFF + 1
        while self._last_id in self._streams:
            self._last_id = self._last_id % 0xFFFFFFFF + 1
        channel = _Channel(self, self._last_id, remote_id)
        self._streams[channel.local_id] = channel
        destination = payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
        task = self._loop.create_task(self._serve(destination, channel))
        self._tasks[task] = channel
        channel.task = task
        self.ask_for_turn(channel)

    async def _serve(self, destination: str, channel: _Channel) -> None:
        channel.started = True
        try:
            if destination == "reconnect":
                await self._reconnect(channel)
            else:
                await self._device.serve(destination, channel)
        except ServiceRefused:
            channel.refused = True
        except StreamClosed:
            pass
        except Exception:  # a bug in one service is no reason for the others to end
            _log.exception("the service %.100r failed", destination)
        finally:
            channel.finish()
            if channel.task is not None:
                self._tasks.pop(channel.task, None)
            self._leave_when_done()

    async def _reconnect(self, channel: _Channel) -> None:
        await channel.write(b"done")
        # Runs after the flush that the write has asked for.
        self._loop.call_soon(self.drop)

    def _end_streams(self) -> None:
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
        if self._transport is None and not self._tasks:
            self._connections.discard(self)


class _Channel:
    """One stream: at most one message travels each way until it is acknowledged."""

    def __init__(self, connection: _Connection, local_id: int, remote_id: int) -> None:
        self.local_id = local_id
        self.remote_id = remote_id
        self.started = False
        self.refused = False
        self.has_turn = False
        self.abandoned = False
        self.task: asyncio.Task[None] | None = None
        self._connection = connection
        self._accepted = False
        self._finished = False
        self._closed = False
        self._travelling = False
        self._unsent: deque[bytes | memoryview] = deque()
        self._unsent_size = 0
        self._unread: list[bytes] = []
        self._unread_size = 0
        self._owes_acknowledgement = False
        self._readable = _Signal()
        self._writable = _Signal()

    async def read(self) -> bytes:
        """Give everything the host has sent since, waiting for something to come."""
        while not self._unread:
            if self._closed:
                return b""
            await self._readable.wait()
        data = self._unread[0] if len(self._unread) == 1 else b"".join(self._unread)
        self._unread.clear()
        self._unread_size = 0
        if self._owes_acknowledgement:
            self._acknowledge()
        return data

    async def write(self, data: bytes) -> None:
        """Queue bytes for the host, first waiting until it has taken most of the earlier ones."""
        while self._unsent_size >= MAX_PAYLOAD and not self._closed:
            await self._writable.wait()
        if self._closed:
            raise StreamClosed
        if not data:
            return
        # Queued whole, so that writers on the same stream never mix.
        self._unsent.append(bytes(data))
        self._unsent_size += len(data)
        if not self._travelling:
            self._connection.ask_for_turn(self)

    def take_turn(self) -> None:
        """Send what may be sent now: the acceptance, the next piece, or the end."""
        if self._closed:
            return
        if not self.started:
            # Only its first steps tell whether the service refuses.
            self._connection.ask_for_turn(self)
            return
        if self.refused and not self._accepted:
            self._close(0)
            return
        if not self._accepted:
            self._accepted = True
            self._connection.send(_OKAY, self.local_id, self.remote_id)
        if self._unsent and not self._travelling:
            self._travelling = True
            piece = self._next_piece(self._connection.max_payload)
            self._connection.send(_WRTE, self.local_id, self.remote_id, piece)
            self._writable.wake()
        if self._finished and not self._unsent:
            self._close(self.local_id)

    def acknowledged(self) -> None:
        """Note that the host has taken the last piece."""
        self._travelling = False
        if self._unsent:
            self._connection.ask_for_turn(self)

    def receive(self, payload: bytes) -> None:
        """Keep what the host sent; it may send more once it is told so."""
        if payload:
            self._unread.append(payload)
            self._unread_size += len(payload)
            self._readable.wake()
        if self._unread_size > _MAX_UNREAD:
            raise _Broken
        self._owes_acknowledgement = True
        if self._unread_size <= MAX_PAYLOAD:
            self._acknowledge()

    def finish(self) -> None:
        """Close the stream once everything is sent, because the service is done."""
        self._finished = True
        if not self._closed:
            self._connection.ask_for_turn(self)

    def host_closed(self) -> None:
        """Take the host's goodbye; what it has sent before can still be read."""
        self._close(self.local_id)

    def connection_lost(self) -> None:
        """Wake the service, because the host is gone."""
        self._closed = True
        self._readable.wake()
        self._writable.wake()

    def _close(self, named_id: int) -> None:
        self._connection.send(_CLSE, named_id, self.remote_id)
        self._connection.forget(self)
        self._unsent.clear()
        self.connection_lost()

    def _acknowledge(self) -> None:
        self._owes_acknowledgement = False
        if not self._closed:
            self._connection.send(_OKAY, self.local_id, self.remote_id)

    def _next_piece(self, limit: int) -> bytes:
        pieces: list[bytes | memoryview] = []
        room = limit
        while room and self._unsent:
            piece = self._unsent.popleft()
            if len(piece) > room:
                view = memoryview(piece)
                self._unsent.appendleft(view[room:])
                piece = view[:room]
            pieces.append(piece)
            room -= len(piece)
        self._unsent_size -= limit - room
        return b"".join(pieces)


class _Signal:
    """Wakes everyone who waits."""

    def __init__(self) -> None:
        self._waiters: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        """Sleep until the next wake."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def wake(self) -> None:
        """Wake those who sleep now."""
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
