"""One stream: pieces, acknowledgements, closing."""

from __future__ import annotations

import asyncio

import pytest

from pytest_clawperator.simulator.wire.stream import MAX_PAYLOAD, Stream, StreamClosed
from tests.doubles.simulator.adb_hosts import (
    Message,
    MiniDevice,
    collect,
    listening,
    pattern,
    raw_host,
    soon,
)


def test_one_piece_travels_until_it_is_acknowledged() -> None:
    """A second piece waits for the host, while other streams go on."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open(f"exec:big {2 * MAX_PAYLOAD}", number=1)
            first = await host.next()
            await host.open("exec:echo between", number=2)
            between = [await host.next(), await host.next()]
            host.send("OKAY", 1, local)
            second = await host.next()

            assert [message.arg1 for message in between] == [2, 2]
            assert first.payload + second.payload == pattern(2 * MAX_PAYLOAD)

    asyncio.run(run())


@pytest.mark.parametrize("max_payload", [4096, 256 * 1024, MAX_PAYLOAD, 2**32 - 1])
def test_writes_are_split_to_what_both_sides_allow(max_payload: int) -> None:
    """No piece is larger than the smaller of the two limits, and nothing is lost."""

    async def run() -> None:
        size = 3 * min(max_payload, MAX_PAYLOAD) + 17
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet(max_payload=max_payload)
            local = await host.open(f"exec:big {size}")
            pieces = await collect(host, local)

            assert b"".join(pieces) == pattern(size)
            assert max(map(len, pieces)) == min(max_payload, MAX_PAYLOAD)

    asyncio.run(run())


def test_large_writes_of_the_host_arrive_whole() -> None:
    """Five full messages, each acknowledged, are what the service reads."""

    async def run() -> None:
        received = bytearray()

        async def sink(_: str, stream: Stream) -> None:
            while data := await stream.read():
                received.extend(data)
            done.set()

        done = asyncio.Event()
        data = pattern(5 * MAX_PAYLOAD)
        async with listening(MiniDevice({"sink": sink})) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("sink:")
            for start in range(0, len(data), MAX_PAYLOAD):
                host.send("WRTE", 1, local, data[start : start + MAX_PAYLOAD])
                assert await host.next() == Message("OKAY", local, 1)
            host.send("CLSE", 1, local)
            await soon(done)

            assert received == data

    asyncio.run(run())


def test_a_service_that_does_not_read_holds_the_host_back() -> None:
    """Beyond a full message, acknowledgements wait until the service reads."""

    async def run() -> None:
        async def lazy(_: str, stream: Stream) -> None:
            await release.wait()
            total = 0
            while total < 2 * MAX_PAYLOAD:
                total += len(await stream.read())
            await stream.write(b"%d" % total)

        release = asyncio.Event()
        device = MiniDevice({"lazy": lazy})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("lazy:", number=1)
            host.send("WRTE", 1, local, b"x" * MAX_PAYLOAD)
            assert await host.next() == Message("OKAY", local, 1)
            host.send("WRTE", 1, local, b"x" * MAX_PAYLOAD)
            await host.open("exec:echo between", number=2)
            between = [await host.next(), await host.next()]
            release.set()

            assert [message.command for message in between] == ["WRTE", "CLSE"]
            assert await host.next() == Message("OKAY", local, 1)
            assert (await host.next()).payload == b"%d" % (2 * MAX_PAYLOAD)

    asyncio.run(run())


def test_a_host_that_ignores_flow_control_is_dropped() -> None:
    """Nobody can fill the memory by never waiting."""

    async def run() -> None:
        async def deaf(_: str, stream: Stream) -> None:
            await asyncio.Event().wait()

        device = MiniDevice({"deaf": deaf})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("deaf:")
            for _ in range(8):
                host.send("WRTE", 1, local, b"x" * MAX_PAYLOAD)

            assert (await host.rest())[:4] in (b"OKAY", b"")

    asyncio.run(run())


def test_after_the_host_closed_a_service_can_finish_its_work() -> None:
    """Sent bytes are still read, then nothing; writing says that nobody listens."""

    async def run() -> None:
        seen: list[object] = []

        async def careful(_: str, stream: Stream) -> None:
            await release.wait()
            seen.append(await stream.read())
            seen.append(await stream.read())
            try:
                await stream.write(b"too late")
            except StreamClosed:
                seen.append(StreamClosed)
            done.set()

        release, done = asyncio.Event(), asyncio.Event()
        device = MiniDevice({"careful": careful})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("careful:")
            host.send("WRTE", 1, local, b"last words")
            assert await host.next() == Message("OKAY", local, 1)
            host.send("CLSE", 1, local)
            assert await host.next() == Message("CLSE", local, 1)
            release.set()
            await soon(done)

            assert seen == [b"last words", b"", StreamClosed]

    asyncio.run(run())


def test_a_writer_wakes_when_the_host_closes() -> None:
    """A service stuck in a write learns that the host wants no more."""

    async def run() -> None:
        async def endless(_: str, stream: Stream) -> None:
            try:
                while True:
                    await stream.write(b"x" * MAX_PAYLOAD)
            except StreamClosed:
                woken.set()

        woken = asyncio.Event()
        device = MiniDevice({"endless": endless})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("endless:")
            assert (await host.next()).command == "WRTE"
            host.send("CLSE", 1, local)
            await soon(woken)

    asyncio.run(run())
