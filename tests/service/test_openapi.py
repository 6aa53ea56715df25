"""The OpenAPI document: true, and nothing that it allows makes the service fail."""

from __future__ import annotations

import copy
import os
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from pytest_clawperator.simulator import Simulator
from tests.doubles.service import RunningService, running_service

SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
#: Streams, and what works on emulators of this machine.
LEFT_OUT = ("/events", "/android")
EXAMPLES = 200 if SOAK else 2


@pytest.fixture(scope="module")
def document(service: RunningService) -> dict[str, Any]:
    """Return the document of the running service."""
    document: dict[str, Any] = httpx.get(f"{service.url}/openapi.json").json()
    return document


def test_every_endpoint_is_described(service: RunningService, document: dict[str, Any]) -> None:
    """With a summary and its answers."""
    for endpoint in service.service.endpoints:
        operation = document["paths"][endpoint.path][endpoint.method.lower()]
        assert operation["summary"].endswith(".")
        assert "200" in operation["responses"]


def test_the_token_is_part_of_the_document(simulator: Simulator) -> None:
    """Where one is needed."""
    with running_service(simulator, token="correct-horse") as service:
        headers = {"authorization": "Bearer correct-horse"}
        document = httpx.get(f"{service.url}/openapi.json", headers=headers).json()

    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def test_no_request_makes_the_service_fail(
    service: RunningService, document: dict[str, Any], simulator: Simulator
) -> None:
    """Requests made of the document, sound and broken ones, are answered without a 500."""
    schema = schemathesis.openapi.from_dict(_on_phones(document, simulator.serials))
    tried = 0
    for path, operations in document["paths"].items():
        if path.startswith(LEFT_OUT):
            continue
        for method in operations:
            tried += _try(schema[path][method.upper()], service.url)

    assert tried > 20
    assert httpx.get(f"{service.url}/v1").status_code == 200


def _on_phones(document: dict[str, Any], serials: list[str]) -> dict[str, Any]:
    """Return the document with serials that there are, so that requests reach the phones."""
    changed: dict[str, Any] = copy.deepcopy(document)
    for operations in changed["paths"].values():
        for operation in operations.values():
            given = operation.get("parameters", [])
            # One who follows the log hears of no end.
            operation["parameters"] = [one for one in given if one["name"] != "follow"]
            for parameter in operation["parameters"]:
                if parameter["name"] == "serial":
                    parameter["schema"] = {"type": "string", "enum": [*serials, "none"]}
    return changed


def _try(operation: Any, url: str) -> int:
    """Send requests for one operation; return how many were sent."""
    count = 0

    def send(case: Any) -> None:
        nonlocal count
        count += 1
        answer = case.call(base_url=url, timeout=30)
        case.validate_response(answer, checks=[not_a_server_error])

    making: Any = given(operation.as_strategy())
    limited = settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=not SOAK,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    checked: Any = limited(making(send))
    checked()
    return count
