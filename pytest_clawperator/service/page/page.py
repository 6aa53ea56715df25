"""The page at ``/``."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.service.endpoint import Endpoint

_NAMES = {"style": "rack.css", "script": "rack.js"}


class RackPage:
    """Serves the page; its data come from ``/v1/devices``."""

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        return [
            Endpoint(
                method="GET",
                path="/",
                handle=self.page,
                summary="Show the rack to people.",
                content="text/html",
            )
        ]

    async def page(self, request: Request) -> Response:
        """Return the page."""
        return Response("rack", media_type="text/html")
