"""A client that calls an application in this process, without a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message


@dataclass
class Answered:
    """An answer: its status, its headers, and its body so far."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


async def ask(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    body: bytes | str | dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    until: Callable[[Answered], bool] | None = None,
) -> Answered:
    """Send a request, and return the answer; a stream is read until the condition holds."""
    if isinstance(body, dict):
        body = json.dumps(body)
    data = body.encode() if isinstance(body, str) else body
    own = {name.lower(): value for name, value in (headers or {}).items()}
    given = {"host": "127.0.0.1:3000", **own}
    if data is not None:
        given = {"content-type": "application/json", "content-length": str(len(data)), **given}
    route, _, query = path.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": route,
        "raw_path": route.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(k.encode(), v.encode("latin-1")) for k, v in given.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 3000),
    }
    answered, has_enough = Answered(), asyncio.Event()
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": data or b"", "more_body": False}
        await has_enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered.status = message["status"]
            pairs = message["headers"]
            answered.headers = {k.decode().lower(): v.decode("latin-1") for k, v in pairs}
        else:
            answered.body += message.get("body", b"")
        if until is not None and until(answered):
            has_enough.set()

    await asyncio.wait_for(app(scope, receive, send), 30)
    return answered
