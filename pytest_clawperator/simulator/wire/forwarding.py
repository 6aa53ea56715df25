"""``adb reverse`` and ``adb forward``: the sockets on which a phone listens for its hosts.

They belong to the phone: two phones may both listen on port 8080, and no port of the machine is
taken, because every connection to them goes through that of the host.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass
from typing import Protocol

from pytest_clawperator.simulator.wire.stream import ServiceRefused, Stream, StreamClosed

_LOOPBACK = ("localhost", "127.0.0.1")
_LOCAL = re.compile("(local|localabstract|localreserved|localfilesystem):.+", re.DOTALL)
_TCP = re.compile("tcp:(?:(?P<host>[^:]+):)?(?P<port>[0-9]{1,5})", re.ASCII)
# The first port that Linux chooses by itself.
_FIRST_FREE = 32768
_LAST_PORT = 65535
# How adbd lists a host that is connected over TCP.
_HOST_NAME = "host-1"


class Line(Stream, Protocol):
    """A connection to what listens."""

    def finish(self) -> None:
        """Close it once everything is sent."""


class Host(Protocol):
    """A host that asked the phone to listen on its behalf."""

    async def dial(self, destination: str) -> Line:
        """Connect to a socket of the host; raise ConnectionError if it refuses."""


class BadSocketName(ValueError):
    """The text is not the name of a socket."""


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
        name = _socket_name(name)
        if name == "tcp:0":
            ports = range(_FIRST_FREE, _LAST_PORT + 1)
            name = next(tcp for tcp in map("tcp:{}".format, ports) if tcp not in self._listeners)
        self._listeners[name] = Listener(name, remote, host)
        return name

    def listens(self, name: str) -> bool:
        """Whether something listens on a socket."""
        return _socket_name(name) in self._listeners

    def listeners(self) -> list[Listener]:
        """List what listens for hosts, in the order in which it began."""
        return list(self._listeners.values())

    def close(self, name: str) -> None:
        """Stop listening there; raise KeyError if nothing did."""
        del self._listeners[_socket_name(name)]

    def close_all(self, host: Host | None = None) -> None:
        """Stop listening on behalf of one host, or of all."""
        for listener in self.listeners():
            if host in (None, listener.host):
                del self._listeners[listener.name]

    async def connect(self, name: str) -> Line:
        """Connect to a socket of the phone; raise ConnectionError if nothing listens."""
        try:
            listener = self._listeners.get(_socket_name(name))
        except BadSocketName as error:
            raise ConnectionError(str(error)) from None
        if listener is None:
            raise ConnectionRefusedError(f"nothing listens on {name}")
        return await listener.host.dial(listener.remote)


def _socket_name(text: str) -> str:
    """Return a socket's name in one form; raise BadSocketName if it is not one."""
    found = _TCP.fullmatch(text)
    if found and int(found["port"]) <= _LAST_PORT and found["host"] in (None, *_LOOPBACK):
        return f"tcp:{int(found['port'])}"
    if _LOCAL.fullmatch(text):
        return text
    raise BadSocketName(f"unknown socket specification: {text}")


async def _join(one: Stream, other: Stream) -> None:
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


async def serve_forward(name: str, stream: Stream, sockets: Sockets) -> None:
    """Connect a host to a socket of the phone, until one of them closes."""
    try:
        line = await sockets.connect(name)
    except ConnectionError as error:
        raise ServiceRefused(name) from error
    try:
        await _join(stream, line)
    finally:
        line.finish()


def reverse_reply(request: str, *, sockets: Sockets, host: Host) -> bytes:
    """Answer ``adb reverse``: ``request`` is what follows ``reverse:``."""
    kind, _, argument = request.partition(":")
    if request == "list-forward":
        rows = (f"{_HOST_NAME} {each.name} {each.remote}\n" for each in sockets.listeners())
        return _text("".join(rows))
    if request == "killforward-all":
        sockets.close_all()
        return b"OKAY"
    try:
        if kind == "killforward":
            return _end(argument, sockets)
        if kind == "forward":
            return _begin(argument, sockets, host)
    except BadSocketName as error:
        return _failure(f"cannot bind listener: {error}")
    return _failure("not a reverse forwarding command")


def _begin(argument: str, sockets: Sockets, host: Host) -> bytes:
    once = argument.startswith("norebind:")
    name, _, remote = argument.removeprefix("norebind:").partition(";")
    if not remote or ";" in remote:
        return _failure(f"bad forward: {argument}")
    if once and sockets.listens(name):
        return _failure("cannot rebind existing socket")
    bound = sockets.listen(name, remote=remote, host=host)
    # The port is part of the answer only if the phone had to choose one.
    return b"OKAY" if bound == name else b"OKAY" + _text(bound.removeprefix("tcp:"))


def _end(name: str, sockets: Sockets) -> bytes:
    try:
        sockets.close(name)
    except (KeyError, BadSocketName):
        return _failure(f"listener '{name}' not found")
    return b"OKAY"


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")[:0xFFFF]
    return b"%04x" % len(data) + data


def _failure(message: str) -> bytes:
    return b"FAIL" + _text(message)
