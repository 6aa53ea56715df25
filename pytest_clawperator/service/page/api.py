"""What the page asks for: ``/v1/rack``, its changes and its pictures."""

from __future__ import annotations

import socket
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pytest_clawperator.pictures import THUMBNAIL_TYPE
from pytest_clawperator.service.answers import succeeded
from pytest_clawperator.service.endpoint import TEXT, Endpoint, Schema, a_list
from pytest_clawperator.service.openapi import package_version
from pytest_clawperator.service.page.watch import RackWatch
from pytest_clawperator.service.published.event_stream import STREAM_HEADERS

_OBJECT: Schema = {"type": "object"}


class RackApi:
    """Describes the rack to those who look at it."""

    def __init__(self, watch: RackWatch) -> None:
        self._watch = watch

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        return [
            Endpoint(
                method="GET",
                path="/v1/rack",
                handle=self.describe,
                summary="Describe the rack as its page shows it; nothing is run on a device.",
                answer={"service": _OBJECT, "devices": a_list(_OBJECT)},
                statuses=(500,),
            ),
            Endpoint(
                method="GET",
                path="/v1/rack/events",
                handle=self.follow,
                summary="Listen to changes of the rack: clawperator:rack, heartbeat.",
                content="text/event-stream",
            ),
            Endpoint(
                method="GET",
                path="/v1/rack/picture",
                handle=self.picture,
                summary="Return the newest small picture of a device; 204 if there is none.",
                query={"serial": TEXT},
                content=THUMBNAIL_TYPE,
                statuses=(500,),
            ),
        ]

    async def describe(self, request: Request) -> Response:
        """Describe the rack."""
        about: dict[str, Any] = {"name": socket.gethostname(), "version": package_version()}
        return succeeded(await self._watch.document(), service=about)

    async def follow(self, request: Request) -> Response:
        """Send the changes until the client or the service goes."""
        if request.method == "HEAD":
            return Response(headers=STREAM_HEADERS)
        return StreamingResponse(self._watch.follow(), headers=STREAM_HEADERS)

    async def picture(self, request: Request) -> Response:
        """Return the newest picture, unless the client has it."""
        station = self._watch.station(request.query_params.get("serial", ""))
        found = None if station is None else await self._watch.pictures.newest(station)
        headers = {"cache-control": "no-store"}
        if found is None:
            return Response(status_code=204, headers=headers)
        headers["etag"] = f'"{found.at:.3f}"'
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(found.content, media_type=THUMBNAIL_TYPE, headers=headers)
