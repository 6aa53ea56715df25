"""The application: all endpoints, behind the gate, with JSON for every error."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.service.answers import Refused, failed, json_answer
from pytest_clawperator.service.endpoint import Endpoint
from pytest_clawperator.service.gate import Gate

# Nothing is framed, nothing is guessed, and nobody else's page may have it.
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
}


# With these the rest of the body is not read, so nothing can follow it.
_UNREAD = (408, 413, 415)


def make_app(endpoints: Iterable[Endpoint], *, gate: Gate) -> Starlette:
    """Return the application of these endpoints."""
    app = Starlette(
        routes=[Route(one.path, one.handle, methods=[one.method]) for one in endpoints],
        middleware=[Middleware(Guarded, gate=gate)],
        exception_handlers={
            Refused: _refused,
            ClawperatorError: _failed,
            HTTPException: _not_found,
            Exception: _defect,
        },
    )
    app.router.redirect_slashes = False
    return app


class Guarded:
    """Lets in who may ask, and marks each answer for browsers."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        path = scope["path"].rstrip("/") or "/"  # one at the end changes nothing
        scope = {**scope, "path": path}
        try:
            self._gate.check(scope["method"], path, Headers(scope=scope))
        except Refused as refusal:
            await json_answer(refusal.body, status=refusal.status)(scope, receive, marked)
        else:
            await self._app(scope, receive, marked)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    answer = json_answer(error.body, status=error.status)
    if error.status in _UNREAD:
        answer.headers["connection"] = "close"
    return answer


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, ClawperatorError)
    return failed(error)


async def _not_found(request: Request, error: Exception) -> Response:
    """Answer for a path, or a method of it, that there is not."""
    refusal = Refused(
        404,
        "ROUTE_NOT_FOUND",
        f"there is no {request.method} {request.url.path[:200]}",
        "GET /openapi.json describes what there is.",
    )
    return json_answer(refusal.body, status=refusal.status)


async def _defect(request: Request, error: Exception) -> Response:
    # The server that runs the application logs where it failed.
    told = {"code": "INTERNAL_SERVER_ERROR", "message": f"the service failed: {error!r:.200}"}
    return json_answer({"ok": False, "error": told}, status=500)
