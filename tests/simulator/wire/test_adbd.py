"""adbd as the real adb sees it, and after its connections were dropped."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from pytest_clawperator.simulator.wire.stream import Stream
from tests.doubles.simulator.adb_hosts import (
    MiniDevice,
    listening,
    pattern,
    raw_host,
    real_adb,
    soon,
)


def test_after_a_drop_the_device_can_be_reached_again() -> None:
    """Dropping connections is a pulled cable, not the end."""

    async def run() -> None:
        async with listening(MiniDevice()) as (adbd, port):
            async with raw_host(port) as host:
                await host.greet()
                adbd.drop_connections()
                assert await host.rest() == b""
            async with raw_host(port) as host:
                assert (await host.greet()).command == "CNXN"

    asyncio.run(run())


def test_the_real_adb_sees_the_device(tmp_path: Path) -> None:
    """It lists the device with its properties and knows its features."""

    async def run() -> None:
        async with real_adb(tmp_path, MiniDevice()) as adb:
            listed = await adb("devices", "-l")
            features = await adb("features")

            row = listed.text.splitlines()[1].split()
            assert row[:2] == [adb.serial, "device"]
            assert {"product:mini", "model:Mini_Phone", "device:mini1"} <= set(row)
            assert "shell_v2" in features.text.split()

    asyncio.run(run())


def test_the_real_adb_runs_commands(tmp_path: Path) -> None:
    """Output, input and the exit code go through; unknown services are refused."""

    async def run() -> None:
        async with real_adb(tmp_path, MiniDevice()) as adb:
            shell = await adb("shell", "echo", "hi")
            stdin = await adb("shell", "cat", stdin=b"from the host\n")
            raw = await adb("exec-out", "big 3000000")
            unknown = await adb("jdwp")

            assert (shell.code, shell.stdout) == (7, b"hi\n")
            assert stdin.stdout == b"from the host\n"
            assert raw.stdout == pattern(3_000_000)
            assert (unknown.code, unknown.text) == (1, "error: closed\n")

    asyncio.run(run())


def test_the_real_adb_moves_much_data_both_ways_on_many_streams(tmp_path: Path) -> None:
    """Eight commands at once each get their own four megabytes back."""

    async def run() -> None:
        async with real_adb(tmp_path, MiniDevice()) as adb:
            data = [pattern(4_000_000 + number) for number in range(8)]
            ended = await asyncio.gather(*(adb("shell", "cat", stdin=each) for each in data))

            assert [one.stdout == sent for one, sent in zip(ended, data, strict=True)] == [True] * 8

    asyncio.run(run())


@pytest.mark.parametrize("state", ["unauthorized", "offline"])
def test_the_real_adb_shows_a_device_that_is_not_ready(tmp_path: Path, state: str) -> None:
    """Its state is listed, commands fail, and it comes back when the state ends."""

    async def run() -> None:
        device = MiniDevice()
        async with real_adb(tmp_path) as adb, listening(device) as (adbd, port):
            serial = await adb.server.connect(port)
            device.state = "unauthorized" if state == "unauthorized" else "offline"
            adbd.drop_connections()
            await adb.until(serial, state)
            listed = await adb("devices")
            refused = await adb("shell", "echo", "x")
            device.state = "device"
            adbd.drop_connections()
            await adb.until(serial, "device")
            back = await adb("shell", "echo", "back")

            assert f"{serial}\t{state}" in listed.text
            assert refused.code != 0
            assert state in refused.text
            assert back.stdout == b"back\n"

    asyncio.run(run())


def test_the_real_adb_reconnects_and_disconnects(tmp_path: Path) -> None:
    """Reconnecting from the device, disconnecting and connecting again all work."""

    async def run() -> None:
        device = MiniDevice()
        async with real_adb(tmp_path, device) as adb:
            device.admitted.clear()
            again = await adb("reconnect", "device")
            await soon(device.admitted)
            await adb.until(adb.serial, "device")
            first = await adb("shell", "echo", "1")
            gone = await adb("disconnect", adb.serial)
            listed = await adb("devices")
            connected = await adb("connect", adb.serial)
            second = await adb("shell", "echo", "2")

            assert again.code == 0
            assert (first.stdout, second.stdout) == (b"1\n", b"2\n")
            assert gone.text == f"disconnected {adb.serial}\n"
            assert adb.serial not in listed.text
            assert connected.text == f"connected to {adb.serial}\n"

    asyncio.run(run())


def test_killing_a_running_adb_ends_its_service(tmp_path: Path) -> None:
    """A command whose adb program is gone learns that nobody listens."""

    async def run() -> None:
        async def follow(_: str, stream: Stream) -> None:
            started.set()
            assert await stream.read() == b""
            ended.set()

        started, ended = asyncio.Event(), asyncio.Event()
        async with real_adb(tmp_path, MiniDevice({"exec": follow})) as adb:
            running = asyncio.create_task(adb("exec-out", "follow"))
            await soon(started)
            running.cancel()
            await soon(ended)
            with contextlib.suppress(asyncio.CancelledError):
                await running

    asyncio.run(run())
