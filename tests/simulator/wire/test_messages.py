"""Messages: checksums, and bytes that are none."""

from __future__ import annotations

import asyncio
import contextlib
import random

import pytest

from pytest_clawperator.simulator.wire.stream import MAX_PAYLOAD
from tests.doubles.simulator.adb_hosts import (
    DEADLINE,
    Message,
    MiniDevice,
    echo,
    listening,
    raw_host,
)


def test_a_host_of_the_old_version_gets_and_must_send_checksums() -> None:
    """Below the version that skips them, every message is summed up, and a wrong sum ends it."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            await host.greet(version=0x01000000, max_payload=4096)
            await host.open("exec:echo sum")
            answer = await host.next()
            assert host.checksums[-1] == sum(answer.payload)
            await host.next()
            host.writer.write(Message("OPEN", 2, 0, b"exec:echo x\0").packed(checksum=1))

            assert await host.rest() == b""

    asyncio.run(run())


def test_a_host_of_the_new_version_may_leave_checksums_out() -> None:
    """A reconnecting adb fills in no sum, not even for its greeting."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            greeting = Message("CNXN", 0x01000001, MAX_PAYLOAD, b"host::")
            host.writer.write(greeting.packed(checksum=0))
            assert (await host.next()).command == "CNXN"
            host.writer.write(Message("OPEN", 1, 0, b"exec:echo x\0").packed(checksum=0))
            assert (await host.next()).command == "OKAY"

    asyncio.run(run())


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
def test_a_stranger_is_dropped(data: bytes) -> None:
    """What is not the protocol ends that connection without an answer."""

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port), raw_host(port) as host:
            host.writer.write(data)

            assert await host.rest() == b""

    asyncio.run(run())


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
        data += message.packed(checksum=rng.choice([None, 0, 7]))
    if rng.random() < 0.3 and data:
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.5:
        del data[rng.randrange(len(data) + 1) :]
    if rng.random() < 0.1:
        data = bytearray(rng.randbytes(rng.randrange(300)))
    return bytes(data)


@pytest.mark.parametrize("seed", range(4))
def test_hostile_bytes_harm_nobody_else(seed: int) -> None:
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
