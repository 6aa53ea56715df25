"""``adb forward`` and ``adb reverse``, as adbd has them."""

from __future__ import annotations

from pytest_clawperator.simulator.wire.sockets import BadSocketName, Host, Sockets, join
from pytest_clawperator.simulator.wire.stream import ServiceRefused, Stream

# What adbd calls a host that came over TCP, in the list of what it forwards.
_HOST_NAME = "host-1"


async def serve_forward(name: str, stream: Stream, sockets: Sockets) -> None:
    """Connect a host to a socket of the phone, until one of them closes."""
    try:
        line = await sockets.connect(name)
    except ConnectionError as error:
        raise ServiceRefused(name) from error
    try:
        await join(stream, line)
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
    # Which port it became is told only where the phone had to choose one.
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
