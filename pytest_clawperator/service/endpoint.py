"""An endpoint: its route, what it does, and how the OpenAPI document describes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

Handler = Callable[[Request], Awaitable[Response]]
Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One method of one path.

    ``body`` is the JSON schema of its body, ``query`` has that of each parameter. ``answer`` is
    the schema of the fields of a positive answer, or ``content`` its media type where it is no
    JSON. ``takes`` is the media type of a body that is no JSON.
    """

    method: str
    path: str
    handle: Handler
    summary: str
    body: Schema | None = None
    is_body_required: bool = False
    takes: str | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    answer: Mapping[str, Schema] = field(default_factory=dict)
    content: str | None = None
    statuses: tuple[int, ...] = ()
    status: int = 200


def an_object(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """Return the schema of an object with these properties."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def a_list(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}
