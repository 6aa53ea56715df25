"""Telling an adb server of an emulator, again after the server was restarted.

A server goes on asking a port where an emulator was, for a minute. So another one, of another
simulated SDK, may call where it is not expected; it is turned away.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from pytest_clawperator.simulator.wire.adbd import Adbd

# Nothing tells when an adb server is there again.
_LOOK_EVERY = 0.05
_ANSWER_DEADLINE = 2.0
# So many looks later a server that was disconnected has noticed it.
_NOTICED_AFTER = 20
_LONGEST_ANSWER = 65536


async def keep_registered(adbd: Adbd, *, adb_port: int, server: tuple[str, int]) -> None:
    """Tell the server of the emulator whenever it is not connected; let nobody else in."""
    looks = 0
    while True:
        looks = 0 if adbd.has_hosts else looks + 1
        if looks:
            # A server that was just disconnected may have yet to notice that.
            register = _register(adbd, adb_port, server, wait_for_notice=looks < _NOTICED_AFTER)
            with suppress(OSError, EOFError, asyncio.TimeoutError):
                await asyncio.wait_for(register, _ANSWER_DEADLINE)
        await asyncio.sleep(_LOOK_EVERY)


async def _register(
    adbd: Adbd, adb_port: int, server: tuple[str, int], *, wait_for_notice: bool
) -> None:
    if wait_for_notice and await _is_known(server, adb_port):
        return
    adbd.is_expecting = True
    try:
        await _ask(server, f"host:emulator:{adb_port}")
    finally:
        adbd.is_expecting = False
    if not await _is_known(server, adb_port):
        adbd.drop_connections()  # it was another server that called in that moment


async def _is_known(server: tuple[str, int], adb_port: int) -> bool:
    return f"emulator-{adb_port - 1}\t" in await _ask(server, "host:devices")


async def _ask(server: tuple[str, int], request: str) -> str:
    """Send a request and return what comes back; for some nothing does."""
    reader, writer = await asyncio.open_connection(*server)
    try:
        writer.write(b"%04x" % len(request) + request.encode())
        return (await reader.read(_LONGEST_ANSWER)).decode("utf-8", "replace")
    finally:
        writer.close()
