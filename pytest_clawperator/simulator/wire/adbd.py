"""adbd, the device's end of adb: listens for hosts on behalf of one phone."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pytest_clawperator.simulator.wire.connection import Connection, Served


class Adbd:
    """Listens for hosts on behalf of one device."""

    def __init__(self, device: Served) -> None:
        self._device = device
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()
        self.is_expecting = True
        """Whether hosts that call now are let in; those that are connected stay."""

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
        return Connection(self._device, self._connections) if self.is_expecting else _Closed()

    @property
    def has_hosts(self) -> bool:
        """Whether a host is connected."""
        return bool(self._connections)

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


class _Closed(asyncio.Protocol):
    """Ends a connection as soon as it is made."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        assert isinstance(transport, asyncio.Transport)
        transport.abort()
