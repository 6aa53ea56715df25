"""Sends a service requests made of its OpenAPI document, sound and broken ones.

    python -m tests.service.document_requests URL START EXAMPLES SERIAL...

Takes the paths that begin with ``START``; ``-START`` stands for all the others. Prints how many
were sent; ends with an error at the first that the service cannot answer. It is
a program because schemathesis, as a plugin for pytest, makes every test run start later: it is
installed beside the environment.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

#: Streams have no end that could be waited for.
STREAMS = ("/events", "/v1/rack/events")
#: So many examples are others each time; fewer are always the same.
MANY = 100


def main(url: str, start: str, examples: str, *serials: str) -> None:
    """Send the requests, so many for each operation."""
    document: dict[str, Any] = httpx.get(f"{url}/openapi.json").json()
    schema = schemathesis.openapi.from_dict(_on_phones(document, serials))
    sent = 0
    for path, operations in document["paths"].items():
        is_asked = path.startswith(start.removeprefix("-")) != start.startswith("-")
        if is_asked and path not in STREAMS:
            for method in operations:
                sent += _try(schema[path][method.upper()], url, int(examples))
    print(sent)


def _on_phones(document: dict[str, Any], serials: Sequence[str]) -> dict[str, Any]:
    """Return the document with serials that there are, so that requests reach the phones."""
    paths: dict[str, Any] = {
        path: {method: _on_phone(operation, serials) for method, operation in operations.items()}
        for path, operations in document["paths"].items()
    }
    return {**document, "paths": paths}


def _on_phone(operation: dict[str, Any], serials: Sequence[str]) -> dict[str, Any]:
    known = {"schema": {"type": "string", "enum": [*serials, "none"]}}
    parameters = [
        {**one, **known} if one["name"] == "serial" else one
        for one in operation.get("parameters", [])
        if one["name"] != "follow"  # one who follows the log hears of no end
    ]
    return {**operation, "parameters": parameters}


def _try(operation: Any, url: str, examples: int) -> int:
    """Send requests for one operation; return how many were sent."""
    count = 0

    def send(case: Any) -> None:
        nonlocal count
        count += 1
        answer = case.call(base_url=url, timeout=30)
        case.validate_response(answer, checks=[not_a_server_error])

    making: Any = given(operation.as_strategy())
    limited = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=examples < MANY,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    checked: Any = limited(making(send))
    checked()
    return count


if __name__ == "__main__":
    main(*sys.argv[1:])
