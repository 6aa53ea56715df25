"""The page at ``/``: its files, which use no other host, and the data that it requests."""

from __future__ import annotations

import socket
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.doctor.facts import package_version
from pytest_clawperator.pictures import THUMBNAIL_TYPE
from pytest_clawperator.service.endpoints import (
    TEXT,
    Api,
    Endpoint,
    Schema,
    a_list,
    endpoint,
    succeeded,
)
from pytest_clawperator.service.events import stream_of
from pytest_clawperator.service.watch import RackWatch

_FOLDER = Path(__file__).parent / "files"

#: Each path of the page with its file and media type; the files contain no data of devices.
FILES = {
    "/": ("rack.html", "text/html; charset=utf-8"),
    "/rack.css": ("rack.css", "text/css; charset=utf-8"),
    "/rack.js": ("rack.js", "text/javascript; charset=utf-8"),
    "/rack.svg": ("rack.svg", "image/svg+xml"),
}

# Scripts and styles come from the files alone, pictures from the script, and a text can never
# become markup.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)

_HEADERS = {"content-security-policy": _POLICY, "cache-control": "no-cache"}


class RackPage:
    """Serve the files of the page; its data comes from ``/v1/rack``."""

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        return [
            Endpoint(
                method="GET",
                path=path,
                handle=partial(self.file, name=name, kind=kind),
                summary="Show the rack to people." if path == "/" else f"Part of the page: {name}.",
                content=kind.partition(";")[0],
            )
            for path, (name, kind) in FILES.items()
        ]

    async def file(self, request: Request, *, name: str, kind: str) -> Response:
        """Return a file of the page."""
        content = (_FOLDER / name).read_bytes()
        return Response(content, headers={**_HEADERS, "content-type": kind})


_OBJECT: Schema = {"type": "object"}


class RackApi(Api):
    """Serve the data of the page: devices, changes and pictures."""

    def __init__(self, watch: RackWatch) -> None:
        self._watch = watch

    @endpoint(
        "GET",
        "/v1/rack",
        answer={"service": _OBJECT, "devices": a_list(_OBJECT)},
        statuses=(500,),
    )
    async def describe(self, request: Request) -> Response:
        """Describe the rack as its page shows it; nothing is run on a device."""
        about: dict[str, Any] = {"name": socket.gethostname(), "version": package_version()}
        return succeeded(await self._watch.document(), service=about)

    @endpoint("GET", "/v1/rack/events", content="text/event-stream")
    async def follow(self, request: Request) -> Response:
        """Listen to changes of the rack: clawperator:rack, heartbeat."""
        return stream_of(request, self._watch.follow)

    @endpoint(
        "GET",
        "/v1/rack/picture",
        query={"serial": TEXT},
        content=THUMBNAIL_TYPE,
        statuses=(500,),
    )
    async def picture(self, request: Request) -> Response:
        """Return the newest small picture of a device; 204 if there is none."""
        station = self._watch.station(request.query_params.get("serial", ""))
        found = None if station is None else await self._watch.pictures.newest(station)
        headers = {"cache-control": "no-store"}
        if found is None:
            return Response(status_code=204, headers=headers)
        headers["etag"] = f'"{found.at:.3f}"'
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(found.content, media_type=THUMBNAIL_TYPE, headers=headers)
