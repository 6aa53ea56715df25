"""What an endpoint is made of: its route, request body and answer, and its OpenAPI description."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from pytest_clawperator.contracts.ecmascript import parse_json
from pytest_clawperator.doctor.facts import package_version
from pytest_clawperator.errors import (
    BroadcastError,
    ClawperatorError,
    EnvelopeTimeoutError,
    ErrorCode,
)
from pytest_clawperator.redaction import hide

Handler = Callable[[Request], Awaitable[Response]]

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One method of one path.

    ``body`` is the JSON schema of its body, ``query`` has that of each parameter. ``answer`` has
    the schemas of the fields of a successful answer, ``content`` is its media type if it is not
    JSON. ``takes`` is the media type of a body that is not JSON.
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


_Handling = TypeVar("_Handling", bound=Callable[..., Awaitable[Response]])


def endpoint(method: str, *paths: str, **about: Any) -> Callable[[_Handling], _Handling]:
    """Mark a method of an ``Api`` as the handler of paths; its docstring is their summary."""

    def marked(handle: _Handling) -> _Handling:
        handle.__dict__["endpoints"] = [{"method": method, "path": path, **about} for path in paths]
        return handle

    return marked


class Api:
    """Handlers of endpoints, in the order of their definition."""

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        return [
            Endpoint(handle=getattr(self, name), summary=(handle.__doc__ or "").strip(), **about)
            for name, handle in vars(type(self)).items()
            for about in getattr(handle, "endpoints", ())
            if name != "endpoints"
        ]


def an_object(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """Return the schema of an object with these properties."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def a_list(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


JSON_TYPE = "application/json; charset=utf-8"


# What is not here is a fault of the lab, and answered with 500.
_STATUSES: Mapping[str, int] = {
    ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT: 423,
    ErrorCode.DEVICE_LEASED: 423,
    ErrorCode.DEVICE_NOT_FOUND: 404,
    ErrorCode.NO_DEVICES: 404,
    ErrorCode.EMULATOR_NOT_FOUND: 404,
    ErrorCode.EMULATOR_NOT_RUNNING: 404,
    ErrorCode.FILE_UNAVAILABLE: 404,
    ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED: 400,
    ErrorCode.EXECUTION_VALIDATION_FAILED: 400,
    ErrorCode.CONFIGURATION_INVALID: 400,
    ErrorCode.PAYLOAD_TOO_LARGE: 413,
    ErrorCode.RESULT_ENVELOPE_TIMEOUT: 504,
    ErrorCode.TRANSPORT_TIMEOUT: 504,
    ErrorCode.EMULATOR_UNSUPPORTED: 409,
    ErrorCode.EMULATOR_ALREADY_RUNNING: 409,
}

# The published program has these beside the code, and not among the details.
_BESIDE_CODE = ("lastCorrelatedEvents", "broadcastDispatchStatus", "operatorPackage")


class Refused(Exception):
    """Raised to refuse a request; it has the answer."""

    def __init__(self, status: int, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error: dict[str, Any] = {"code": code, "message": message}
        if hint is not None:
            self.error["hint"] = hint

    @property
    def body(self) -> dict[str, Any]:
        """The answer."""
        return {"ok": False, "error": self.error}


def succeeded(fields: Mapping[str, Any] | None = None, /, **more: Any) -> Response:
    """Return a successful answer with these fields."""
    return json_answer({"ok": True, **(fields or {}), **more})


def failed(error: ClawperatorError, *, serial: str | None = None) -> Response:
    """Return the answer for an error; ``serial`` is the device that was found for the request."""
    return json_answer(failure(error, serial=serial), status=status_of(error))


def failure(error: ClawperatorError, *, serial: str | None = None) -> dict[str, Any]:
    """Return the body of the answer for an error."""
    body: dict[str, Any] = {"ok": False, "error": error_object(error)}
    return body if serial is None else {**body, "deviceId": serial}


def status_of(error: ClawperatorError) -> int:
    """Return the HTTP status of an error."""
    return _STATUSES.get(str(error.code), 500)


def error_object(error: ClawperatorError) -> dict[str, Any]:
    """Return an error in the form of the published program, with a hint."""
    details = {**_published_details(error), **error.details}
    beside = {key: details.pop(key) for key in _BESIDE_CODE if key in details}
    if beside and error.serial is not None:
        beside["deviceId"] = error.serial
    found: dict[str, Any] = {"code": str(error.code), "message": hide(error.message), **beside}
    if error.hint is not None:
        found["hint"] = hide(error.hint)
    return {**found, "details": details} if details else found


def _published_details(error: ClawperatorError) -> dict[str, Any]:
    """Return the details that the published program adds to some errors."""
    if error.code == ErrorCode.OPERATOR_NOT_INSTALLED:
        serial = shlex.quote(error.serial or "SERIAL")
        install = f"clawperator-py operator setup --apk APK --device {serial}"
        about = {"checkId": "readiness.apk.presence", "summary": "Operator APK not installed."}
        return {**about, "detail": hide(error.message), "installCommand": install}
    if isinstance(error, BroadcastError):
        return {"lastCorrelatedEvents": []}
    if isinstance(error, EnvelopeTimeoutError):
        caveat = "payload-last only; Android execution position is unknown"
        return {"lastActionCaveat": caveat}
    return {}


def json_answer(body: Any, *, status: int = 200) -> Response:
    """Return any body as JSON."""
    return Response(to_json(body), status_code=status, headers={"content-type": JSON_TYPE})


def to_json(body: Any) -> bytes:
    """Return JSON in ASCII, because it may contain lone surrogates, which UTF-8 cannot encode."""
    return json.dumps(body, default=str, separators=(",", ":")).encode("ascii")


def plain_answer(refusal: Refused) -> bytes:
    """Return a refusal as a raw HTTP response."""
    body = to_json(refusal.body)
    about = f"content-type: {JSON_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close"
    return f"HTTP/1.1 {refusal.status} Refused\r\n{about}\r\n\r\n".encode() + body


#: The limit of the published program.
LARGEST_BODY = 100 * 1024

#: How long the next piece of a body may take.
PATIENCE = 20.0

_INVALID_BODY = "Invalid or missing JSON body"


async def read_object(request: Request, *, message: str = _INVALID_BODY) -> dict[str, Any]:
    """Return the JSON object of a required body.

    A list counts as an object without fields, as in the published program.
    """
    given = await read_optional(request)
    if given is None:
        raise Refused(400, "INVALID_BODY", message, "Send a JSON object as application/json.")
    return given


async def read_optional(request: Request) -> dict[str, Any] | None:
    """Return the JSON object of a body; None if there is no body, or it is not JSON."""
    body = b"".join([piece async for piece in stream_bytes(request, limit=LARGEST_BODY)])
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


async def stream_bytes(request: Request, *, limit: int) -> AsyncIterator[bytes]:
    """Yield a body in pieces; refuse one that is too large, compressed or too slow."""
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
    """Return an optional text field; unless ``blank``, it must contain more than spaces."""
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
    """Return an optional number field, which must be within limits."""
    value = given.get(name, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        raise Refused(400, "INVALID_FIELD", f"'{name}' must be a number from {least:g} to {most:g}")
    return float(value)


def _too_large(limit: int) -> Refused:
    return Refused(413, "PAYLOAD_TOO_LARGE", f"Payload exceeds {limit // 1024}kb limit")


_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")

_ANY_TIME = (401, 403, 421)

_ERROR = {"$ref": "#/components/schemas/Error"}


def describing(endpoints: Iterable[Endpoint], *, needs_token: bool) -> list[Endpoint]:
    """Return the endpoints and one more, which describes them all."""
    document: dict[str, Any] = {}

    async def describe(request: Request) -> Response:
        """Return the document."""
        return json_answer(document)

    own = Endpoint(
        method="GET",
        path="/openapi.json",
        handle=describe,
        summary="Describe this API.",
        content="application/json",
    )
    every = [*endpoints, own]
    document.update(make_document(every, needs_token=needs_token))
    return every


def make_document(endpoints: Iterable[Endpoint], *, needs_token: bool) -> dict[str, Any]:
    """Return the OpenAPI document of these endpoints."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        path = _PARAMETER.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint)
    error = an_object(("code", "message"), code=TEXT, message=TEXT, hint=TEXT)
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Clawperator", "version": package_version()},
        "paths": paths,
        "components": {
            "schemas": {
                "Error": an_object(("ok", "error"), ok={"const": False}, error=error),
            }
        },
    }
    if needs_token:
        schemes = {"token": {"type": "http", "scheme": "bearer"}}
        document["components"]["securitySchemes"] = schemes
        document["security"] = [{"token": []}]
    return document


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    name = re.sub(r"\W+", "_", f"{endpoint.method.lower()}{endpoint.path}").strip("_")
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": endpoint.summary,
        "responses": {
            "200": {"description": "It is done.", "content": _content(endpoint)},
            **{
                str(status): {
                    "description": HTTPStatus(status).phrase,
                    "content": {"application/json": {"schema": _ERROR}},
                }
                for status in sorted({*endpoint.statuses, *_ANY_TIME})
            },
        },
    }
    parameters = [
        {"name": one, "in": "path", "required": True, "schema": TEXT}
        for one in _PARAMETER.findall(endpoint.path)
    ]
    parameters += [
        {"name": one, "in": "query", "required": False, "schema": schema}
        for one, schema in endpoint.query.items()
    ]
    if parameters:
        operation["parameters"] = parameters
    if endpoint.body is not None or endpoint.takes is not None:
        kind = endpoint.takes or "application/json"
        schema = endpoint.body if endpoint.takes is None else {"type": "string", "format": "binary"}
        operation["requestBody"] = {
            "required": endpoint.is_body_required,
            "content": {kind: {"schema": schema}},
        }
    return operation


def _content(endpoint: Endpoint) -> dict[str, Any]:
    if endpoint.content is not None:
        return {endpoint.content: {}}
    fields = an_object(("ok", *endpoint.answer), ok={"const": True}, **endpoint.answer)
    return {"application/json": {"schema": fields}}
