"""Server-sent events of the service, with bounded memory."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pytest_clawperator.redaction import hide_in_document
from pytest_clawperator.service.endpoints import Api, endpoint, to_json

#: How many events, and how many bytes of them, are kept for listeners that reconnect.
KEPT_EVENTS, KEPT_BYTES = 1000, 16 * 1024 * 1024

#: The interval of heartbeats on an idle stream, in seconds.
HEARTBEAT = 15.0


class Events:
    """The events of the service, published and read in the event loop's thread.

    A listener has a position instead of a queue, so that one that does not read costs no memory.
    """

    def __init__(
        self, *, most: int = KEPT_EVENTS, most_bytes: int = KEPT_BYTES, heartbeat: float = HEARTBEAT
    ) -> None:
        self.listeners = 0
        self._most, self._most_bytes, self._heartbeat = most, most_bytes, heartbeat
        # A listener that reconnects after a restart has ids of the former process.
        self._count = secrets.token_hex(4)
        self._kept: deque[bytes] = deque()
        self._kept_bytes = 0
        self._end = 0
        self.is_closed = False
        self._news: asyncio.Future[None] | None = None

    def publish(self, name: str, data: dict[str, Any]) -> None:
        """Send an event to all listeners, with secrets hidden."""
        self._end += 1
        frame = _frame(name, data, id=f"{self._count}-{self._end}")
        self._kept.append(frame)
        self._kept_bytes += len(frame)
        while len(self._kept) > self._most or (
            self._kept_bytes > self._most_bytes and len(self._kept) > 1
        ):
            self._kept_bytes -= len(self._kept.popleft())
        self._wake()

    def close(self) -> None:
        """End all streams."""
        self.is_closed = True
        self._wake()

    async def stream(self, last_id: str | None) -> AsyncIterator[bytes]:
        """Yield the frames from now on, or those after the event with this id."""
        position, is_lost = self._after(last_id)
        self.listeners += 1
        try:
            connected = {"code": "CONNECTED", "message": "Clawperator SSE stream active"}
            yield _frame("heartbeat", connected)
            if is_lost:
                lost = {"message": f"events after {last_id} are no longer kept"}
                yield _frame("clawperator:lost", lost)
            while not self.is_closed:
                first = self._end - len(self._kept)
                if position < first:  # it reads too slowly
                    yield _frame("clawperator:lost", {"message": "events were lost"})
                    position = first
                if position < self._end:
                    frames = list(self._kept)[position - first :]
                    position = self._end
                    yield b"".join(frames)
                elif not await self._wait():
                    yield _frame("heartbeat", {"code": "ALIVE", "message": "nothing happened"})
        finally:
            self.listeners -= 1

    def _after(self, last_id: str | None) -> tuple[int, bool]:
        """Return the position after an event, and whether later ones were lost."""
        if not last_id:
            return self._end, False
        count, _, number = last_id.partition("-")
        first = self._end - len(self._kept)
        if count != self._count or not (number.isascii() and number.isdecimal()):
            return first, True
        return min(max(int(number[:18]), first), self._end), int(number[:18]) < first

    async def _wait(self) -> bool:
        """Wait for an event; return False if none came in time."""
        if self._news is None:
            self._news = asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait([self._news], timeout=self._heartbeat)
        return bool(done)

    def _wake(self) -> None:
        news, self._news = self._news, None
        if news is not None and not news.done():
            news.set_result(None)


def _frame(name: str, data: dict[str, Any], *, id: str | None = None) -> bytes:
    about = f"id: {id}\n" if id else ""
    text = hide_in_document(to_json(data), name="event.json").decode()
    return f"event: {name}\ndata: {text}\n{about}\n".encode()


_STREAM_HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "connection": "keep-alive",
    "x-accel-buffering": "no",  # a proxy in between must not collect them
}


def stream_of(request: Request, frames: Callable[[], AsyncIterator[bytes]]) -> Response:
    """Return an answer that sends events until the client or the service ends."""
    if request.method == "HEAD":
        return Response(headers=_STREAM_HEADERS)
    return StreamingResponse(frames(), headers=_STREAM_HEADERS)


class EventStream(Api):
    """Stream the executions of the service to listeners."""

    def __init__(self, events: Events) -> None:
        self._events = events

    @endpoint("GET", "/events", content="text/event-stream")
    async def stream(self, request: Request) -> Response:
        """Listen to events: clawperator:result, clawperator:execution, heartbeat."""
        last_id = request.headers.get("last-event-id")  # which resumes a stream
        return stream_of(request, lambda: self._events.stream(last_id))
