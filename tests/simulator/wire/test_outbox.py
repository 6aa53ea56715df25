"""What is written to a host, and when."""

from __future__ import annotations

import asyncio

from pytest_clawperator.simulator.wire.stream import Stream
from tests.doubles.simulator.adb_hosts import (
    MiniDevice,
    echo,
    listening,
    raw_host,
    soon,
)


def test_small_writes_leave_together() -> None:
    """What is written while the host is busy goes in one piece afterwards."""

    async def run() -> None:
        async def chatty(_: str, stream: Stream) -> None:
            await stream.write(b"first ")
            await sent.wait()
            for _line in range(1000):
                await stream.write(b"line\n")
            written.set()
            await stream.read()

        sent, written = asyncio.Event(), asyncio.Event()
        device = MiniDevice({"chatty": chatty})
        async with listening(device) as (_, port), raw_host(port) as host:
            await host.greet()
            local = await host.open("chatty:")
            first = await host.next()
            sent.set()
            await soon(written)
            host.send("OKAY", 1, local)
            second = await host.next()

            assert first.payload == b"first "
            assert second.payload == b"line\n" * 1000

    asyncio.run(run())


def test_many_streams_at_once_do_not_mix() -> None:
    """Hundreds of echoes, interleaved, each give back their own bytes."""

    async def run() -> None:
        numbers = range(1, 301)
        async with listening(MiniDevice({"echo": echo})) as (_, port), raw_host(port) as host:
            await host.greet()
            for number in numbers:
                host.send("OPEN", number, 0, b"echo:\0")
            opened = [await host.next() for _ in numbers]
            locals_ = {message.arg1: message.arg0 for message in opened}
            for number in numbers:
                host.send("WRTE", number, locals_[number], b"stream %d" % number)
            answers: dict[int, bytes] = {}
            while len(answers) < len(numbers):
                message = await host.next()
                if message.command == "WRTE":
                    answers[message.arg1] = message.payload
                    host.send("OKAY", message.arg1, message.arg0)

            assert len(set(locals_.values())) == len(numbers)
            assert answers == {number: b"stream %d" % number for number in numbers}

    asyncio.run(run())
