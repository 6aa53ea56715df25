"""Telling an adb server of an emulator, again after the server was restarted."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from pytest_clawperator.simulator.wire.adbd import Adbd

_LOOK_EVERY = 0.05
_ANSWER_DEADLINE = 2.0


async def keep_registered(adbd: Adbd, *, adb_port: int, server: tuple[str, int]) -> None:
    """Tell the server of the emulator whenever none is connected to it."""
    while True:
        if not adbd.has_hosts:
            with suppress(OSError, asyncio.TimeoutError):
                await asyncio.wait_for(_register(adb_port, server), _ANSWER_DEADLINE)
        await asyncio.sleep(_LOOK_EVERY)


async def _register(adb_port: int, server: tuple[str, int]) -> None:
    reader, writer = await asyncio.open_connection(*server)
    try:
        request = f"host:emulator:{adb_port}".encode()
        writer.write(b"%04x" % len(request) + request)
        await writer.drain()
        await reader.read(64)  # the server closes the connection, or refuses
    finally:
        writer.close()
