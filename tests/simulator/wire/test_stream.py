"""Messages, the outbox and streams: layout, pieces, acknowledgements, closing."""

from __future__ import annotations

import asyncio
import contextlib
import random

import pytest

from pytest_clawperator.simulator.wire.stream import MAX_PAYLOAD, Stream, StreamClosed
from tests.doubles.simulator.adb_hosts import (
    DEADLINE,
    Message,
    MiniDevice,
    collect,
    echo,
    greeted,
    in_loop,
    listening,
    pattern,
    raw_host,
    soon,
)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\0" * 24,
        Message("CNXN", 0x00FFFFFF, 4096).packed(),
        Message("CNXN", 0x01000001, 0).packed(),
        Message("OPEN", 1, 0, b"exec:echo x\0").packed(),
        Message("STLS", 0x01000000, 0).packed(),
        Message("CNXN", 0x01000001, 4096)._replace(payload=b"x" * (MAX_PAYLOAD + 1)).packed(),
    ],
    ids=["http", "zeros", "old", "no payload", "no greeting", "unknown", "oversize"],
)
@in_loop
async def test_a_stranger_is_dropped(data: bytes) -> None:
    """What is not the protocol ends that connection without an answer."""
    async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
        host.writer.write(data)

        assert await host.rest() == b""


def _hostile(rng: random.Random) -> bytes:
    """Make up what a broken or malicious host might send after a good start or none."""
    greeting = Message("CNXN", 0x01000001, rng.choice([1, 4096, MAX_PAYLOAD]), b"host::").packed()
    commands = ["CNXN", "OPEN", "OKAY", "WRTE", "CLSE", "AUTH", "STLS", "SYNC", "\0\1\2\3"]
    numbers = [0, 1, 2, 3, 2**31, 2**32 - 1]
    destinations = [b"echo:\0", b"exec:big 100000\0", b"sync:\0", b"\xff\xfe:\0", b"", b"shell,v2:"]
    data = bytearray(greeting if rng.random() < 0.9 else b"")
    for _ in range(rng.randrange(12)):
        payload = rng.choice([rng.choice(destinations), rng.randbytes(rng.randrange(200))])
        message = Message(rng.choice(commands), rng.choice(numbers), rng.choice(numbers), payload)
        data += message.packed()
    if rng.random() < 0.3 and data:
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.5:
        del data[rng.randrange(len(data) + 1) :]
    if rng.random() < 0.1:
        data = bytearray(rng.randbytes(rng.randrange(300)))
    return bytes(data)


@pytest.mark.parametrize("seed", range(2))
def test_hostile_bytes_harm_no_other_connection(seed: int) -> None:
    """Random, mutated and truncated messages end their own connection at worst."""

    async def run() -> None:
        rng = random.Random(seed)
        async with listening(MiniDevice({"echo": echo})) as (_, port), raw_host(port) as good:
            await good.greet()
            local = await good.open("echo:")
            before = len(asyncio.all_tasks())
            for round_ in range(100):
                async with raw_host(port) as bad:
                    for piece in _cut(rng, _hostile(rng)):
                        bad.writer.write(piece)
                        await asyncio.sleep(0)
                    if rng.random() < 0.5:
                        with contextlib.suppress(OSError):
                            bad.writer.write_eof()
                        await bad.rest()
                good.send("WRTE", 1, local, b"%d" % round_)
                assert await good.next() == Message("OKAY", local, 1)
                assert await good.next() == Message("WRTE", local, 1, b"%d" % round_)
                good.send("OKAY", 1, local)
            while len(asyncio.all_tasks()) > before:
                await asyncio.sleep(0)

    async def limited() -> None:
        await asyncio.wait_for(run(), DEADLINE)

    asyncio.run(limited())


def _cut(rng: random.Random, data: bytes) -> list[bytes]:
    """Cut data at random places."""
    places = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(4)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


@in_loop
async def test_one_piece_travels_until_it_is_acknowledged() -> None:
    """What is written meanwhile goes in one piece afterwards; other streams go on."""

    async def chatty(_: str, stream: Stream) -> None:
        await stream.write(b"first ")
        await sent.wait()
        for _line in range(1000):
            await stream.write(b"line\n")
        written.set()
        await stream.read()

    sent, written = asyncio.Event(), asyncio.Event()
    async with greeted(MiniDevice({"chatty": chatty})) as host:
        local = await host.open("chatty:")
        first = await host.next()
        sent.set()
        await soon(written)
        await host.open("exec:echo between", number=2)
        between = [await host.next(), await host.next()]
        host.send("OKAY", 1, local)
        second = await host.next()

        assert [message.arg1 for message in between] == [2, 2]
        assert first.payload == b"first "
        assert second.payload == b"line\n" * 1000


@pytest.mark.parametrize("max_payload", [4096, MAX_PAYLOAD, 2**32 - 1])
@in_loop
async def test_writes_are_split_to_what_both_sides_allow(max_payload: int) -> None:
    """No piece is larger than the smaller of the two limits, and nothing is lost."""
    size = 3 * min(max_payload, MAX_PAYLOAD) + 17
    async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
        await host.greet(max_payload=max_payload)
        local = await host.open(f"exec:big {size}")
        pieces = await collect(host, local)

        assert b"".join(pieces) == pattern(size)
        assert max(map(len, pieces)) == min(max_payload, MAX_PAYLOAD)


@in_loop
async def test_a_service_that_does_not_read_holds_the_host_back() -> None:
    """Beyond a full message, acknowledgements wait until the service reads."""

    async def lazy(_: str, stream: Stream) -> None:
        await release.wait()
        total = 0
        while total < 2 * MAX_PAYLOAD:
            total += len(await stream.read())
        await stream.write(b"%d" % total)

    release = asyncio.Event()
    async with greeted(MiniDevice({"lazy": lazy})) as host:
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


@in_loop
async def test_after_the_host_closed_a_service_can_finish_its_work() -> None:
    """Sent bytes are still read, then nothing; writing raises."""
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
    async with greeted(MiniDevice({"careful": careful})) as host:
        local = await host.open("careful:")
        host.send("WRTE", 1, local, b"last words")
        assert await host.next() == Message("OKAY", local, 1)
        host.send("CLSE", 1, local)
        assert await host.next() == Message("CLSE", local, 1)
        release.set()
        await soon(done)

        assert seen == [b"last words", b"", StreamClosed]


@in_loop
async def test_a_writer_wakes_when_the_host_closes() -> None:
    """A service stuck in a write learns that the host wants no more."""

    async def endless(_: str, stream: Stream) -> None:
        try:
            while True:
                await stream.write(b"x" * MAX_PAYLOAD)
        except StreamClosed:
            woken.set()

    woken = asyncio.Event()
    async with greeted(MiniDevice({"endless": endless})) as host:
        local = await host.open("endless:")
        assert (await host.next()).command == "WRTE"
        host.send("CLSE", 1, local)
        await soon(woken)
