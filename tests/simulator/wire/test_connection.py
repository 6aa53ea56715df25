"""One host: its greeting, its services, its end."""

from __future__ import annotations

import asyncio
import logging

import pytest

from pytest_clawperator.simulator.wire.stream import MAX_PAYLOAD, Stream
from tests.doubles.simulator.adb_hosts import (
    Message,
    MiniDevice,
    echo,
    listening,
    raw_host,
    soon,
)


def test_a_host_is_greeted_with_properties_and_features() -> None:
    """The answer to CNXN names the device and only what it can do."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            answer = await host.greet()

            assert answer[:3] == ("CNXN", 0x01000001, MAX_PAYLOAD)
            kind, _, rest = answer.payload.decode().partition("::")
            properties = dict(part.split("=") for part in rest.split(";"))
            assert kind == "device"
            assert properties["ro.product.model"] == "Mini Phone"
            assert properties["features"] == "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir"

    asyncio.run(run())


def test_an_unauthorized_host_is_asked_for_a_key_again_and_again() -> None:
    """No signature and no key is ever good enough."""

    async def run() -> None:
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

    asyncio.run(run())


def test_an_offline_device_says_nothing() -> None:
    """The connection stands, but there is no answer on it."""

    async def run() -> None:
        device = MiniDevice(state="offline")
        async with listening(device) as (_, port), raw_host(port) as host:
            host.send("CNXN", 0x01000001, MAX_PAYLOAD, b"host::")
            host.send("AUTH", 3, 0, b"key\0")
            host.writer.write(b"\0" * 24)

            assert await host.rest() == b""

    asyncio.run(run())


def test_an_unknown_service_is_refused_without_a_stream() -> None:
    """The host gets CLSE with no number of the device's."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet()
            host.send("OPEN", 5, 0, b"nonsense:\0")

            assert await host.next() == Message("CLSE", 0, 5)

    asyncio.run(run())


def test_a_service_answers_and_closes() -> None:
    """The stream opens, brings the answer, and ends."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("exec:echo hello", number=9)

            assert await host.next() == Message("WRTE", local, 9, b"hello\n")
            assert await host.next() == Message("CLSE", local, 9)

    asyncio.run(run())


@pytest.mark.parametrize("ending", ["host vanishes", "device drops", "adbd stops", "host restarts"])
def test_services_are_cancelled_when_their_connection_ends(ending: str) -> None:
    """However the connection ends, its services end too."""

    async def run() -> None:
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

    asyncio.run(run())


def test_a_cancelled_service_may_clean_up_and_stopping_waits_for_it() -> None:
    """It is cancelled once, and adbd has stopped only when it is done."""

    async def run() -> None:
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

    asyncio.run(run())


def test_a_failing_service_closes_only_its_own_stream(caplog: pytest.LogCaptureFixture) -> None:
    """The error is logged, and the connection lives on."""

    async def run() -> None:
        async def broken(_: str, stream: Stream) -> None:
            raise LookupError("no such thing")

        device = MiniDevice({"broken": broken})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("broken:", number=1)
            assert await host.next() == Message("CLSE", local, 1)
            await host.open("exec:echo alive", number=2)
            assert (await host.next()).payload == b"alive\n"

    with caplog.at_level(logging.ERROR):
        asyncio.run(run())
    assert "no such thing" in caplog.text


def test_talk_about_streams_that_do_not_exist_is_ignored() -> None:
    """A late word about a closed stream is normal."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet()
            for command in ("OKAY", "WRTE", "CLSE"):
                host.send(command, 77, 78, b"x" if command == "WRTE" else b"")
            await host.open("exec:echo fine")

            assert (await host.next()).payload == b"fine\n"

    asyncio.run(run())


def test_a_host_cannot_open_streams_without_end() -> None:
    """Beyond a thousand open streams, further ones are refused."""

    async def run() -> None:
        async with listening(MiniDevice({"echo": echo})) as (_, port), raw_host(port) as host:
            await host.greet()
            for number in range(1, 1101):
                host.send("OPEN", number, 0, b"echo:\0")
            commands = [(await host.next()).command for _ in range(1100)]

            assert commands.count("OKAY") == 1024
            assert commands.count("CLSE") == 76

    asyncio.run(run())
