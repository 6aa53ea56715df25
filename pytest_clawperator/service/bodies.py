"""Request bodies: read within limits, parsed strictly, and their fields checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import ClientDisconnect, Request

from pytest_clawperator.contracts.ecmascript import parse_json
from pytest_clawperator.service.answers import Refused

#: The limit of the published program.
LARGEST_BODY = 100 * 1024
#: How long the next piece of a body may take.
PATIENCE = 20.0

_INVALID_BODY = "Invalid or missing JSON body"


async def read_object(request: Request, *, message: str = _INVALID_BODY) -> dict[str, Any]:
    """Return the JSON object of a body that must be there.

    A list counts as an object without fields, as in the published program.
    """
    given = await read_optional(request)
    if given is None:
        raise Refused(400, "INVALID_BODY", message, "Send a JSON object as application/json.")
    return given


async def read_optional(request: Request) -> dict[str, Any] | None:
    """Return the JSON object of a body; None where there is none, or no JSON."""
    body = await read_bytes(request, limit=LARGEST_BODY)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return None
    if not body:
        return {}
    try:
        given = parse_json(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict | list):
        raise Refused(400, "INVALID_JSON", "Malformed JSON body", "The body must be an object.")
    return given if isinstance(given, dict) else {}


async def read_bytes(request: Request, *, limit: int) -> bytes:
    """Return a body of at most so many bytes."""
    pieces: list[bytes] = []
    async for piece in stream_bytes(request, limit=limit):
        pieces.append(piece)
    return b"".join(pieces)


async def stream_bytes(request: Request, *, limit: int) -> AsyncIterator[bytes]:
    """Yield a body piece by piece; refuse one that is too large, packed, or too slow."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Refused(415, "UNSUPPORTED_ENCODING", "the body is packed", "Send it as it is.")
    size, declared = 0, request.headers.get("content-length", "")
    if declared.isascii() and declared.isdecimal() and int(declared) > limit:
        raise _too_large(limit)
    stream = request.stream().__aiter__()
    while True:
        try:
            piece = await asyncio.wait_for(stream.__anext__(), PATIENCE)
        except StopAsyncIteration:
            return
        except (TimeoutError, asyncio.TimeoutError):
            raise Refused(
                408, "REQUEST_TIMEOUT", f"no more of the body came within {PATIENCE:g} s"
            ) from None
        except ClientDisconnect:
            raise Refused(400, "INVALID_BODY", "the connection ended within the body") from None
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        yield piece


def text_field(given: dict[str, Any], name: str, code: str, *, blank: bool = False) -> str | None:
    """Return a field that must be text if it is there; unless ``blank``, more than spaces."""
    if name not in given:
        return None
    value = given[name]
    if not isinstance(value, str):
        raise Refused(400, code, f"'{name}' must be a string")
    if not blank and not value.strip():
        raise Refused(400, code, f"'{name}' must be a non-empty string")
    return value


def number_field(
    given: dict[str, Any], name: str, *, least: float, most: float, default: float
) -> float:
    """Return a field that must be a number within limits if it is there."""
    value = given.get(name, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        raise Refused(400, "INVALID_FIELD", f"'{name}' must be a number from {least:g} to {most:g}")
    return float(value)


def _too_large(limit: int) -> Refused:
    return Refused(413, "PAYLOAD_TOO_LARGE", f"Payload exceeds {limit // 1024}kb limit")
