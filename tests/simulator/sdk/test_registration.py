"""Telling an adb server of an emulator."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from pytest_clawperator.simulator.sdk.registration import keep_registered

DEADLINE = 10.0


def test_a_server_that_still_lists_it_is_told_later() -> None:
    """Nobody is let in before the server has noticed that it was disconnected."""
    listed = ["emulator-5554\tdevice\n", "emulator-5554\toffline\n", "", "emulator-5554\tdevice\n"]
    asked: list[tuple[str, bool]] = []
    registered: asyncio.Event
    adbd: Any = SimpleNamespace(has_hosts=False, is_expecting=False, drop_connections=print)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()
        asked.append((request, adbd.is_expecting))
        if request == "host:devices":
            writer.write(listed.pop(0).encode())
            adbd.has_hosts = not listed
        writer.close()
        if not listed:
            registered.set()

    async def register() -> None:
        nonlocal registered
        registered = asyncio.Event()
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        task = asyncio.create_task(keep_registered(adbd, adb_port=5555, server=address))
        await asyncio.wait_for(registered.wait(), DEADLINE)
        task.cancel()
        server.close()

    asyncio.run(register())

    looked = ("host:devices", False)
    assert asked == [looked, looked, looked, ("host:emulator:5555", True), looked]
