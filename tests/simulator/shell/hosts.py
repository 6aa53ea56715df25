"""A host of shell services, made of bytes, for tests."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass, field

from pytest_clawperator.simulator.shell.service import serve_shell
from pytest_clawperator.simulator.shell.shell import Shell
from pytest_clawperator.simulator.wire.stream import StreamClosed
from tests.simulator.shell.scripts import DEADLINE, new_shell, soon

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)


def packet(kind: int, data: bytes = b"") -> bytes:
    """Return one packet of the shell protocol."""
    return struct.pack("<BI", kind, len(data)) + data


@dataclass
class FakeStream:
    """A host made of bytes: what it sends is put in, what it gets is collected."""

    sent: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    received: bytes = b""
    closed: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> bytes:
        """Return the next bytes of the host."""
        if self.closed and self.sent.empty():
            return b""
        return await self.sent.get()

    async def write(self, data: bytes) -> None:
        """Take bytes for the host."""
        if self.closed:
            raise StreamClosed
        self.received += data
        self.changed.set()

    def send(self, data: bytes) -> None:
        """Send bytes to the device."""
        self.sent.put_nowait(data)

    def close(self) -> None:
        """Close the stream, as adb does when its user gives up."""
        self.closed = True
        self.sent.put_nowait(b"")

    async def until(self, data: bytes, *, times: int = 1) -> None:
        """Wait until the host has got these bytes, so often."""
        while self.received.count(data) < times:
            self.changed.clear()
            await soon(self.changed.wait())

    def packets(self) -> dict[int, bytes]:
        """Take what was received apart: all bytes of each kind."""
        found: dict[int, bytes] = {}
        position = 0
        while position < len(self.received):
            kind, size = struct.unpack_from("<BI", self.received, position)
            position += 5 + size
            found[kind] = found.get(kind, b"") + self.received[position - size : position]
        assert position == len(self.received)
        return found


def serve(destination: str, *sent: bytes) -> FakeStream:
    """Serve one request of a host that sends this and stays; return the host."""

    async def scenario() -> FakeStream:
        stream = FakeStream()
        for data in sent:
            stream.send(data)
        await soon(serve_shell(destination, stream, new_shell))
        return stream

    return asyncio.run(scenario())


class Conversation:
    """A service that runs while a test talks to it."""

    def __init__(self, destination: str, shell: Shell) -> None:
        self.stream = FakeStream()
        self.shell = shell
        self.task = asyncio.create_task(serve_shell(destination, self.stream, lambda: shell))

    async def ends(self) -> None:
        """Wait until the service is over."""
        await asyncio.wait_for(self.task, DEADLINE)
