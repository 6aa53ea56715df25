"""The sockets on which a phone listens: ``tcp:8080``, ``localabstract:name`` and the like.

They are the phone's own. Two phones may both listen on port 8080, and no port of the machine is
taken: what connects to them goes through the host's connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass
from typing import Protocol

from pytest_clawperator.simulator.wire.stream import Stream, StreamClosed

_LOOPBACK = ("localhost", "127.0.0.1")
_LOCAL = re.compile("(local|localabstract|localreserved|localfilesystem):.+", re.DOTALL)
_TCP = re.compile("tcp:(?:(?P<host>[^:]+):)?(?P<port>[0-9]{1,5})", re.ASCII)
# Where Linux begins to look for a port of its own choice.
_FIRST_FREE = 32768
_LAST_PORT = 65535


class Line(Stream, Protocol):
    """A connection to what listens."""

    def finish(self) -> None:
        """Close it once everything is sent."""


class Host(Protocol):
    """A host that asked the phone to listen on its behalf."""

    async def dial(self, destination: str) -> Line:
        """Connect to a socket of the host's; ConnectionError if it refuses."""


class BadSocketName(ValueError):
    """The text names no socket."""


@dataclass(frozen=True)
class Listener:
    """A socket of the phone that leads to one of a host."""

    name: str
    remote: str
    host: Host


class Sockets:
    """The sockets on which one phone listens for its hosts, by name."""

    def __init__(self) -> None:
        self._listeners: dict[str, Listener] = {}

    def listen(self, name: str, *, remote: str, host: Host) -> str:
        """Listen for a host and return the socket's name; ``tcp:0`` becomes a free port."""
        name = socket_name(name)
        if name == "tcp:0":
            ports = range(_FIRST_FREE, _LAST_PORT + 1)
            name = next(tcp for tcp in map("tcp:{}".format, ports) if tcp not in self._listeners)
        self._listeners[name] = Listener(name, remote, host)
        return name

    def listens(self, name: str) -> bool:
        """Whether something listens on a socket."""
        return socket_name(name) in self._listeners

    def listeners(self) -> list[Listener]:
        """List what listens for hosts, in the order in which it began."""
        return list(self._listeners.values())

    def close(self, name: str) -> None:
        """Listen there no more; KeyError where nothing did."""
        del self._listeners[socket_name(name)]

    def close_all(self, host: Host | None = None) -> None:
        """Listen no more on behalf of one host, or of all."""
        for listener in self.listeners():
            if host in (None, listener.host):
                del self._listeners[listener.name]

    async def connect(self, name: str) -> Line:
        """Connect to a socket of the phone; ConnectionError where nothing listens."""
        try:
            listener = self._listeners.get(socket_name(name))
        except BadSocketName as error:
            raise ConnectionError(str(error)) from None
        if listener is None:
            raise ConnectionRefusedError(f"nothing listens on {name}")
        return await listener.host.dial(listener.remote)


def socket_name(text: str) -> str:
    """Return a socket's name in one form; BadSocketName if it is none."""
    found = _TCP.fullmatch(text)
    if found and int(found["port"]) <= _LAST_PORT and found["host"] in (None, *_LOOPBACK):
        return f"tcp:{int(found['port'])}"
    if _LOCAL.fullmatch(text):
        return text
    raise BadSocketName(f"unknown socket specification: {text}")


async def join(one: Stream, other: Stream) -> None:
    """Carry bytes both ways until one of the two is closed."""
    ways = [asyncio.create_task(_carry(one, other)), asyncio.create_task(_carry(other, one))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _carry(source: Stream, target: Stream) -> None:
    with contextlib.suppress(StreamClosed):
        while data := await source.read():
            await target.write(data)
