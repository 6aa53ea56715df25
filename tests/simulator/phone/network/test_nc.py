"""``nc``."""

from __future__ import annotations

import asyncio

import pytest

from tests.doubles.simulator.android_phone import Phone


async def listens(phone: Phone) -> None:
    """Wait until a program of the phone listens."""
    while phone.device.sockets.ports() != [8080]:
        await asyncio.sleep(0)


def test_two_programs_of_a_phone_talk() -> None:
    """What one is given the other prints, both ways, until one of them ends."""
    phone = Phone()

    async def scenario() -> tuple[str, str]:
        listener = asyncio.create_task(phone.shell("echo question | nc -l -p 8080"))
        await listens(phone)
        line = await phone.device.sockets.connect("tcp:8080")
        await line.write(b"answer\n")
        heard = await line.read()
        line.finish()
        return (await listener).out, heard.decode()

    assert asyncio.run(asyncio.wait_for(scenario(), 20)) == ("answer\n", "question\n")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("nc localhost 9", "nc: nothing listens on tcp:localhost:9"),
        ("nc example.com 80", "nc: unknown socket specification: tcp:example.com:80"),
        ("nc -l", "nc: unknown socket specification: tcp:"),
        ("nc", "nc: only -l -p PORT and HOST PORT are supported by the simulated tool"),
    ],
)
def test_what_cannot_be_reached_is_named(script: str, message: str) -> None:
    """There is nothing but the phone's own loopback."""
    ended = Phone().run(script)

    assert (ended.status, ended.err) == (1, message + "\n")


def test_a_port_is_free_again_after_its_program() -> None:
    """What was interrupted listens no more."""
    phone = Phone()

    async def scenario() -> None:
        for _ in range(2):
            running = asyncio.create_task(phone.shell("nc -l -p 8080"))
            await listens(phone)
            running.cancel()
            await asyncio.wait([running])
        assert phone.device.sockets.ports() == []

    asyncio.run(asyncio.wait_for(scenario(), 20))
