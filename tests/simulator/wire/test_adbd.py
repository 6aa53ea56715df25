"""adbd as the real adb and raw bytes see it, and after its connections were dropped."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from pytest_clawperator.simulator.wire.stream import MAX_PAYLOAD, Stream
from tests.doubles.simulator.adb_hosts import (
    Message,
    MiniDevice,
    greeted,
    in_loop,
    listening,
    pattern,
    raw_host,
    real_adb,
    soon,
)


@in_loop
async def test_the_real_adb_sees_the_device_and_runs_commands(tmp_path: Path) -> None:
    """Output, input and the exit code go through; unknown services are refused."""
    async with real_adb(tmp_path, MiniDevice()) as adb:
        listed = await adb("devices", "-l")
        features = await adb("features")
        shell = await adb("shell", "echo", "hi")
        stdin = await adb("shell", "cat", stdin=b"from the host\n")
        raw = await adb("exec-out", "big 3000000")
        unknown = await adb("jdwp")

        row = listed.text.splitlines()[1].split()
        assert row[:2] == [adb.serial, "device"]
        assert {"product:mini", "model:Mini_Phone", "device:mini1"} <= set(row)
        assert "shell_v2" in features.text.split()
        assert (shell.code, shell.stdout) == (7, b"hi\n")
        assert stdin.stdout == b"from the host\n"
        assert raw.stdout == pattern(3_000_000)
        assert (unknown.code, unknown.text) == (1, "error: closed\n")


@in_loop
async def test_the_real_adb_moves_much_data_both_ways_on_many_streams(tmp_path: Path) -> None:
    """Eight commands at the same time each get their own four megabytes back."""
    async with real_adb(tmp_path, MiniDevice()) as adb:
        data = [pattern(4_000_000 + number) for number in range(8)]
        ended = await asyncio.gather(*(adb("shell", "cat", stdin=each) for each in data))

        assert [one.stdout == sent for one, sent in zip(ended, data, strict=True)] == [True] * 8


@pytest.mark.parametrize("state", ["unauthorized", "offline"])
@in_loop
async def test_the_real_adb_shows_a_device_that_is_not_ready(tmp_path: Path, state: str) -> None:
    """Its state is listed, commands fail, and it comes back when the state ends."""
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


@in_loop
async def test_the_real_adb_reconnects_and_disconnects(tmp_path: Path) -> None:
    """Reconnecting from the device, disconnecting and connecting again all work."""
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


@in_loop
async def test_a_host_is_greeted_with_properties_and_features() -> None:
    """The answer to CNXN names the device and only what it can do."""
    async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
        answer = await host.greet()

        assert answer[:3] == ("CNXN", 0x01000001, MAX_PAYLOAD)
        kind, _, rest = answer.payload.decode().partition("::")
        properties = dict(part.split("=") for part in rest.split(";"))
        assert kind == "device"
        assert properties["ro.product.model"] == "Mini Phone"
        assert properties["features"] == "shell_v2,cmd,fixed_push_mkdir"


@in_loop
async def test_an_unauthorized_host_is_asked_for_a_key_again_and_again() -> None:
    """No signature and no key is ever good enough."""
    device = MiniDevice(state="unauthorized")
    async with listening(device) as (_, port), raw_host(port) as host:
        asked = await host.greet()
        host.send("AUTH", 2, 0, b"signature" * 28)
        again = await host.next()
        host.send("AUTH", 3, 0, b"key\0")
        host.send("OPEN", 1, 0, b"exec:echo x\0")

        assert asked[:2] == again[:2] == ("AUTH", 1)
        assert len(asked.payload) == 20
        assert await host.rest() == b""


@in_loop
async def test_a_service_answers_and_closes_or_is_refused() -> None:
    """A refusal has no number of the device's; talk about other streams is ignored."""
    async with greeted(MiniDevice()) as host:
        host.send("OPEN", 5, 0, b"nonsense:\0")
        assert await host.next() == Message("CLSE", 0, 5)
        for command in ("OKAY", "WRTE", "CLSE"):
            host.send(command, 77, 78, b"x" if command == "WRTE" else b"")
        local = await host.open("exec:echo hello", number=9)

        assert await host.next() == Message("WRTE", local, 9, b"hello\n")
        assert await host.next() == Message("CLSE", local, 9)


@pytest.mark.parametrize("ending", ["host vanishes", "device drops", "adbd stops", "host restarts"])
@in_loop
async def test_services_are_cancelled_when_their_connection_ends(ending: str) -> None:
    """However the connection ends, its services end too."""

    async def waiting(_: str, stream: Stream) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    started, ended = asyncio.Event(), asyncio.Event()
    device = MiniDevice({"waiting": waiting})
    async with listening(device) as (adbd, port), raw_host(port) as host:
        await host.greet()
        await host.open("waiting:")
        await soon(started)
        if ending == "host vanishes":
            await host.close()
        elif ending == "device drops":
            adbd.drop_connections()
            assert await host.rest() == b""
        elif ending == "adbd stops":
            await adbd.stop()
            assert ended.is_set()
        else:
            assert (await host.greet()).command == "CNXN"
        await soon(ended)


@in_loop
async def test_a_cancelled_service_may_clean_up_and_stopping_waits_for_it() -> None:
    """It is cancelled once, and adbd has stopped only when it is done."""
    steps: list[str] = []

    async def tidy(_: str, stream: Stream) -> None:
        try:
            await stream.read()
            await asyncio.Event().wait()
        finally:
            for step in ("close", "flush", "leave"):
                await asyncio.sleep(0.001)
                steps.append(step)

    async with listening(MiniDevice({"tidy": tidy})) as (adbd, port), raw_host(port) as host:
        await host.greet()
        await host.open("tidy:")
        adbd.drop_connections()
        assert await host.rest() == b""
        adbd.drop_connections()
        await adbd.stop()

        assert steps == ["close", "flush", "leave"]


@in_loop
async def test_a_failing_service_closes_its_own_stream(caplog: pytest.LogCaptureFixture) -> None:
    """The error is logged, and the connection lives on."""

    async def broken(_: str, stream: Stream) -> None:
        raise LookupError("no such thing")

    with caplog.at_level(logging.ERROR):
        async with greeted(MiniDevice({"broken": broken})) as host:
            local = await host.open("broken:", number=1)
            assert await host.next() == Message("CLSE", local, 1)
            await host.open("exec:echo alive", number=2)
            assert (await host.next()).payload == b"alive\n"
    assert "no such thing" in caplog.text
