"""adb's messages and streams: their layout, flow control, reading and writing."""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from typing import Protocol

# From this version on, messages carry no checksum, except the first of each side.
VERSION = 0x01000001
MAX_PAYLOAD = 1024 * 1024

CNXN, AUTH, OPEN, OKAY, WRTE, CLSE = (
    int.from_bytes(name, "little")
    for name in (b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"WRTE", b"CLSE")
)

_HEADER = struct.Struct("<6I")
_HEADER_SIZE = _HEADER.size


class ProtocolBroken(Exception):
    """The host does not speak the protocol; its connection ends."""


def pack_header(command: int, arg0: int, arg1: int, payload: bytes) -> bytes:
    """Return the header that goes before a payload."""
    checksum = sum(payload) if command in (CNXN, AUTH) else 0
    return _HEADER.pack(command, arg0, arg1, len(payload), checksum, command ^ 0xFFFFFFFF)


class MessageReader:
    """Calls ``handle`` with command, both arguments and payload of every message."""

    def __init__(self, handle: Callable[[int, int, int, bytes], None]) -> None:
        self._handle = handle
        self._received = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes as they arrive; raise ProtocolBroken if they are not messages."""
        if self._received:
            self._received += data
            del self._received[: self._take_messages(self._received)]
        else:
            # Mostly whole messages arrive, which then need not be copied.
            self._received += data[self._take_messages(data) :]

    def clear(self) -> None:
        """Forget the beginning of a message that has not arrived as a whole."""
        self._received.clear()

    def _take_messages(self, received: bytes | bytearray) -> int:
        """Handle every whole message and return how many bytes they were."""
        used = 0
        available = len(received)
        while available - used >= _HEADER_SIZE:
            command, arg0, arg1, size, _, magic = _HEADER.unpack_from(received, used)
            if magic != command ^ 0xFFFFFFFF or size > MAX_PAYLOAD:
                raise ProtocolBroken
            start = used + _HEADER_SIZE
            end = start + size
            if end > available:
                break
            payload = bytes(received[start:end]) if size else b""
            used = end
            self._handle(command, arg0, arg1, payload)
        return used


class Outbox:
    """Queues messages; ``transport`` is None while no host is connected."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.max_payload = MAX_PAYLOAD
        self._loop = asyncio.get_running_loop()
        self._outgoing: list[bytes] = []
        self._waiting: list[Channel] = []
        self._flush_is_due = False

    def send(self, command: int, arg0: int, arg1: int, payload: bytes = b"") -> None:
        """Queue a message."""
        self._outgoing.append(pack_header(command, arg0, arg1, payload))
        if payload:
            self._outgoing.append(payload)
        self._flush_soon()

    def ask_for_turn(self, channel: Channel) -> None:
        """Call the stream's ``take_turn`` when this turn of the loop ends."""
        if not channel.has_turn:
            channel.has_turn = True
            self._waiting.append(channel)
            self._flush_soon()

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
        if outgoing and self.transport is not None:
            self.transport.write(b"".join(outgoing))


class StreamClosed(Exception):
    """The host has closed the stream or is gone, so nothing more can be written."""


class ServiceRefused(Exception):
    """The device has no such service; the host gets a refusal instead of a stream."""


class Stream(Protocol):
    """One stream between the host and a service of the device."""

    async def read(self) -> bytes:
        """Return the next bytes from the host, or nothing once it closed its side."""

    async def write(self, data: bytes) -> None:
        """Send bytes to the host in one piece of the stream, waiting while it is busy."""


class Channel:
    """One stream: at most one message travels each way until it is acknowledged.

    Without a ``remote_id`` the device asked for it, and the host has yet to accept it.
    """

    def __init__(
        self,
        outbox: Outbox,
        local_id: int,
        remote_id: int,
        *,
        on_close: Callable[[Channel], None],
    ) -> None:
        self.local_id = local_id
        self.remote_id = remote_id
        self.started = not remote_id
        self.refused = False
        self.has_turn = False
        self.abandoned = False
        self.task: asyncio.Task[None] | None = None
        self._outbox = outbox
        self._on_close = on_close
        self._accepted = not remote_id
        self._finished = False
        self._closed = False
        self._travelling = not remote_id
        self._unsent: deque[bytes | memoryview] = deque()
        self._unsent_size = 0
        self._unread: list[bytes] = []
        self._unread_size = 0
        self._owes_acknowledgement = False
        self._readable = _Signal()
        self._writable = _Signal()

    async def read(self) -> bytes:
        """Return everything that the host has sent since, after waiting for something."""
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

    async def answered(self) -> bool:
        """Wait until the host has accepted the stream, or not; whether it has."""
        while not self.remote_id and not self._closed:
            await self._writable.wait()
        return bool(self.remote_id)

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
            self._outbox.ask_for_turn(self)

    def take_turn(self) -> None:
        """Send what may be sent now: the acceptance, the next piece, or the end."""
        if self._closed or not self.remote_id:
            return
        if not self.started:
            # Only its first steps show whether the service refuses.
            self._outbox.ask_for_turn(self)
            return
        if self.refused and not self._accepted:
            self._close(0)
            return
        if not self._accepted:
            self._accepted = True
            self._outbox.send(OKAY, self.local_id, self.remote_id)
        if self._unsent and not self._travelling:
            self._travelling = True
            piece = self._next_piece(self._outbox.max_payload)
            self._outbox.send(WRTE, self.local_id, self.remote_id, piece)
            self._writable.wake()
        if self._finished and not self._unsent:
            self._close(self.local_id)

    def acknowledged(self, remote_id: int) -> None:
        """Note that the host has taken the last piece, or accepted the stream."""
        if not self.remote_id:
            self.remote_id = remote_id
            self._writable.wake()
        self._travelling = False
        if self._unsent or self._finished:
            self._outbox.ask_for_turn(self)

    def receive(self, payload: bytes) -> None:
        """Keep what the host sent, and acknowledge it unless too much is unread."""
        if payload:
            self._unread.append(payload)
            self._unread_size += len(payload)
            self._readable.wake()
        self._owes_acknowledgement = True
        if self._unread_size <= MAX_PAYLOAD:
            self._acknowledge()

    def finish(self) -> None:
        """Close the stream once everything is sent, because the service is done."""
        self._finished = True
        if not self._closed:
            self._outbox.ask_for_turn(self)

    def host_closed(self) -> None:
        """Close the stream as the host asks; what it sent before can still be read."""
        self._close(self.local_id)

    def connection_lost(self) -> None:
        """Wake the service, because the host is gone."""
        self._closed = True
        self._readable.wake()
        self._writable.wake()

    def _close(self, named_id: int) -> None:
        if self.remote_id:
            self._outbox.send(CLSE, named_id, self.remote_id)
        self._on_close(self)
        self._unsent.clear()
        self.connection_lost()

    def _acknowledge(self) -> None:
        self._owes_acknowledgement = False
        if not self._closed:
            self._outbox.send(OKAY, self.local_id, self.remote_id)

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
    """Wakes every waiting task."""

    def __init__(self) -> None:
        self._waiters: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        """Wait until the next wake."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def wake(self) -> None:
        """Wake those who wait now."""
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
