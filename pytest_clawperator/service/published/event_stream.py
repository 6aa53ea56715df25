"""Server-sent events: ``/events``."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pytest_clawperator.service.endpoint import Endpoint
from pytest_clawperator.service.events import Events

STREAM_HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "connection": "keep-alive",
    "x-accel-buffering": "no",  # a proxy in between must not collect them
}


class EventStream:
    """Tells of each execution, to everybody who listens."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        return [
            Endpoint(
                method="GET",
                path="/events",
                handle=self.stream,
                summary="Listen to events: clawperator:result, clawperator:execution, heartbeat.",
                content="text/event-stream",
            )
        ]

    async def stream(self, request: Request) -> Response:
        """Send events until the client or the service goes; ``Last-Event-ID`` continues."""
        if request.method == "HEAD":
            return Response(headers=STREAM_HEADERS)
        frames = self._events.stream(request.headers.get("last-event-id"))
        return StreamingResponse(frames, headers=STREAM_HEADERS)
