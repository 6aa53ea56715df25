"""Server-sent events: sent once, replayed to those who come back, and bounded."""

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


def names(frames: str) -> list[str]:
    """Return the names of the events."""
    return re.findall("event: (.*)", frames)


def test_a_listener_hears_what_happens_from_now_on() -> None:
    """One that comes back with ``Last-Event-ID`` hears what it missed; secrets are hidden."""
    SECRETS.add("hunter2-secret")

    async def listen() -> None:
        events = Events()
        events.publish("old", {})
        stream = events.stream(None)
        assert names(await read(stream, 1)) == ["heartbeat"]
        events.publish("new", {"text": "hunter2-secret", "a": 1})
        frame = await read(stream, 1)
        assert names(frame) == ["new"]
        assert '"a":1' in frame
        assert "hunter2-secret" not in frame
        known = re.findall("id: (.*)", frame)[-1]
        events.publish("two", {})
        events.publish("three", {})
        assert names(await read(events.stream(known), 3)) == ["heartbeat", "two", "three"]

    asyncio.run(listen())


def test_what_is_no_longer_kept_is_reported_as_lost() -> None:
    """After too many events, too many bytes, or another start of the service."""

    async def listen(last_id: str, **limits: int) -> list[str]:
        events = Events(**limits)
        for number in range(5):
            events.publish(f"e{number}", {"text": "x" * 100})
        known = last_id.replace("COUNT", events._count)
        frames = await read(events.stream(known), 4)
        return names(frames)

    lost = ["heartbeat", "clawperator:lost", "e3", "e4"]
    assert asyncio.run(listen("COUNT-1", most=2)) == lost
    assert asyncio.run(listen("COUNT-1", most_bytes=320)) == lost
    assert asyncio.run(listen("another-4", most=2)) == lost
    assert asyncio.run(listen("nonsense", most=2)) == lost


def test_a_listener_that_does_not_read_costs_no_memory() -> None:
    """It skips to what is kept, and learns that."""

    async def listen() -> list[str]:
        events = Events(most=2)
        stream = events.stream(None)
        await read(stream, 1)
        for number in range(50):
            events.publish(f"e{number}", {})
        return names(await read(stream, 3))

    assert asyncio.run(listen()) == ["clawperator:lost", "e48", "e49"]


def test_streams_show_that_they_live_and_end_with_the_service() -> None:
    """A heartbeat comes while nothing happens; those that wait end, too."""

    async def listen() -> None:
        assert '"code":"ALIVE"' in await read(Events(heartbeat=0.01).stream(None), 2)
        events = Events()
        stream = events.stream(None)
        await read(stream, 1)
        waiting = asyncio.ensure_future(_rest(stream))
        await asyncio.sleep(0)
        events.close()
        assert (await waiting, events.listeners) == ([], 0)

    asyncio.run(listen())


async def _rest(stream: AsyncIterator[bytes]) -> list[bytes]:
    return [frame async for frame in stream]
