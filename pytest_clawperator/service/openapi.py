"""The OpenAPI document, made of the endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.service.answers import json_answer
from pytest_clawperator.service.endpoint import TEXT, Endpoint, an_object

_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_ANY_TIME = (401, 403, 421)
_ERROR = {"$ref": "#/components/schemas/Error"}


def describing(endpoints: Iterable[Endpoint], *, needs_token: bool) -> list[Endpoint]:
    """Return the endpoints with one more, which describes them all."""
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


def package_version() -> str:
    """Return the version of this package."""
    try:
        return version("pytest-clawperator")
    except PackageNotFoundError:  # it runs from a folder, and was never installed
        return "0"


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    name = re.sub(r"\W+", "_", f"{endpoint.method.lower()}{endpoint.path}").strip("_")
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": endpoint.summary,
        "responses": {
            str(endpoint.status): {"description": "It is done.", "content": _content(endpoint)},
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
