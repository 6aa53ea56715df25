"""The page at ``/``: a few files, which ask this service and nobody else."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.service.endpoint import Endpoint

_FOLDER = Path(__file__).parent / "files"
#: Each path of the page with its file and media type; they hold no data of any device.
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
    """Serves the files of the page; its data come from ``/v1/rack``."""

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
