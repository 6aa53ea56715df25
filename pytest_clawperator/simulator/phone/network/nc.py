"""``nc``: connects standard input and output with a socket of the phone."""

from __future__ import annotations

import asyncio

from pytest_clawperator.simulator.shell.commands import Options, parse_options
from pytest_clawperator.simulator.shell.shell import Command, CommandFailure, Invocation
from pytest_clawperator.simulator.wire.sockets import BadSocketName, Line, Sockets, join


def make_nc(sockets: Sockets) -> Command:
    """Return the command, for the sockets of one phone."""

    async def nc(invocation: Invocation) -> int:
        options = parse_options(invocation.args, flags="l", values="p")
        try:
            line = await _open(options, sockets)
        except (BadSocketName, ConnectionError) as error:
            raise CommandFailure(str(error)) from None
        try:
            await join(line, _Ends(invocation))
        finally:
            line.finish()
        return 0

    return nc


async def _open(options: Options, sockets: Sockets) -> Line:
    if "l" in options:
        return await sockets.accept(f"tcp:{options.text('p')}")
    if len(options.operands) != 2:
        raise CommandFailure("only -l -p PORT and HOST PORT are supported by the simulated tool")
    return await sockets.connect("tcp:{}:{}".format(*options.operands))


class _Ends:
    """Standard input and output of a command as one stream."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    async def read(self) -> bytes:
        """Return what is typed; its end leaves the connection open, which the peer closes."""
        return await self._invocation.stdin.read() or await _never()

    async def write(self, data: bytes) -> None:
        """Print what comes."""
        await self._invocation.stdout.write(data)


async def _never() -> bytes:
    await asyncio.Event().wait()
    return b""
