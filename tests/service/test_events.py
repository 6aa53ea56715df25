"""Server-sent events: told once, replayed to those who come back, and bounded."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.service.events import Events


async def read(stream: AsyncIterator[bytes], count: int) -> str:
    """Return so many frames of a stream."""
    text = ""
    while text.count("\n\n") < count:
        text += (await asyncio.wait_for(stream.__anext__(), 20)).decode()
    return text


def test_a_listener_hears_what_happens_from_now_on() -> None:
    """Not what happened before, unless it was there then."""

    async def listen() -> str:
        events = Events()
        events.publish("old", {})
        stream = events.stream(None)
        first = await read(stream, 1)
        events.publish("new", {"a": 1})
        return first + await read(stream, 1)

    told = asyncio.run(listen())

    assert re.findall("event: (.*)", told) == ["heartbeat", "new"]
    assert 'data: {"a":1}' in told


def test_who_comes_back_hears_what_was_missed() -> None:
    """``Last-Event-ID`` says where the listener was."""

    async def listen() -> str:
        events = Events()
        stream = events.stream(None)
        await read(stream, 1)
        events.publish("one", {})
        known = re.findall("id: (.*)", await read(stream, 1))[-1]
        events.publish("two", {})
        events.publish("three", {})
        return await read(events.stream(known), 3)

    assert re.findall("event: (.*)", asyncio.run(listen())) == ["heartbeat", "two", "three"]


def test_what_is_no_longer_kept_is_told_as_lost() -> None:
    """After too many events, too many bytes, or another start of the service."""

    async def listen(last_id: str, **limits: int) -> list[str]:
        events = Events(**limits)
        for number in range(5):
            events.publish(f"e{number}", {"text": "x" * 100})
        known = last_id.replace("COUNT", events._count)
        frames = await read(events.stream(known), 4)
        return re.findall("event: (.*)", frames)

    lost = ["heartbeat", "clawperator:lost", "e3", "e4"]
    assert asyncio.run(listen("COUNT-1", most=2)) == lost
    assert asyncio.run(listen("COUNT-1", most_bytes=320)) == lost
    assert asyncio.run(listen("another-4", most=2)) == lost
    assert asyncio.run(listen("nonsense", most=2)) == lost


def test_one_who_does_not_read_costs_no_memory() -> None:
    """A slow listener skips to what is kept, and is told."""

    async def listen() -> list[str]:
        events = Events(most=2)
        stream = events.stream(None)
        await read(stream, 1)
        for number in range(50):
            events.publish(f"e{number}", {})
        return re.findall("event: (.*)", await read(stream, 3))

    assert asyncio.run(listen()) == ["clawperator:lost", "e48", "e49"]


def test_a_quiet_stream_shows_that_it_lives() -> None:
    """A heartbeat comes where nothing happens."""

    async def listen() -> str:
        return await read(Events(heartbeat=0.01).stream(None), 2)

    assert '"code":"ALIVE"' in asyncio.run(listen())


def test_streams_end_with_the_service() -> None:
    """All of them, also those that wait."""

    async def listen() -> tuple[list[bytes], int]:
        events = Events()
        stream = events.stream(None)
        await read(stream, 1)
        waiting = asyncio.ensure_future(_rest(stream))
        await asyncio.sleep(0)
        events.close()
        return await waiting, events.listeners

    assert asyncio.run(listen()) == ([], 0)


def test_secrets_are_hidden_from_listeners() -> None:
    """What was typed as a password is nobody's to hear."""
    before = SECRETS.secrets
    SECRETS.add("hunter2-secret")
    try:

        async def listen() -> str:
            events = Events()
            stream = events.stream(None)
            await read(stream, 1)
            events.publish("typed", {"text": "hunter2-secret"})
            return await read(stream, 1)

        assert "hunter2-secret" not in asyncio.run(listen())
    finally:
        SECRETS.secrets = before


async def _rest(stream: AsyncIterator[bytes]) -> list[bytes]:
    return [frame async for frame in stream]
