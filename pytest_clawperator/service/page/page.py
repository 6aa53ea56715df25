"""The page at ``/``."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.service.endpoint import Endpoint


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
        """Return the page, which may load nothing and run nothing but what is in it."""
        html, policy = _made()
        headers = {"content-security-policy": policy, "cache-control": "no-cache"}
        return Response(html, media_type="text/html", headers=headers)


@cache
def _made() -> tuple[str, str]:
    """Return the page with its style and script in it, and the policy that allows them."""
    folder = files(__package__)
    html, style, script = (
        folder.joinpath(name).read_text(encoding="utf-8")
        for name in ("rack.html", "rack.css", "rack.js")
    )
    whole = html.replace("/*STYLE*/", style).replace("/*SCRIPT*/", script)
    policy = (
        f"default-src 'none'; connect-src 'self'; img-src blob:; style-src {_hash(style)};"
        f" script-src {_hash(script)}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return whole, policy


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
