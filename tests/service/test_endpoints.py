"""The OpenAPI document: true, and nothing that it allows makes the service fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from pytest_clawperator.service.server import Service, ServiceOptions
from pytest_clawperator.simulator import Simulator
from tests.acceptance.other_plugins import BESIDE, TOP
from tests.doubles.service import RunningService, serving
from tests.doubles.simulator.sdk_bench import running_sdk

SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))

EXAMPLES = 200 if SOAK else 2

DEADLINE = 3600.0 if SOAK else 120.0


needs_schemathesis = pytest.mark.skipif(
    not BESIDE.is_dir(), reason="schemathesis is not installed: make .venv/developed"
)


def test_every_endpoint_is_described(service: RunningService) -> None:
    """With a summary and its answers."""
    document: dict[str, Any] = httpx.get(f"{service.url}/openapi.json").json()
    for endpoint in service.service.endpoints:
        operation = document["paths"][endpoint.path][endpoint.method.lower()]
        assert operation["summary"].endswith(".")
        assert "200" in operation["responses"]


@needs_schemathesis
def test_no_request_makes_the_service_fail(service: RunningService, simulator: Simulator) -> None:
    """Requests made of the document, sound and broken ones, are answered without a 500."""
    sent = send_requests(service, "-/android", *simulator.serials)

    assert sent > 20
    assert httpx.get(f"{service.url}/v1").status_code == 200


@needs_schemathesis
def test_no_request_about_emulators_makes_the_service_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is an SDK, they are made, started and deleted, or refused."""
    with running_sdk(tmp_path) as bench:
        for name, value in bench.sdk.variables.items():
            monkeypatch.setenv(name, value)
        options = ServiceOptions(adb=f"127.0.0.1:{bench.sdk.adb_port}", port=0)
        with serving(Service(options, token=None)) as service:
            sent = send_requests(service, "/android")

    assert sent >= 8


def send_requests(service: RunningService, start: str, *serials: str) -> int:
    """Send requests of the paths that begin so, and return how many were answered."""
    program = (sys.executable, "-m", "tests.service.document_requests")
    sent = subprocess.run(
        [*program, service.url, start, str(EXAMPLES), *serials],
        env={**os.environ, "PYTHONPATH": f"{BESIDE}{os.pathsep}{TOP}"},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert sent.returncode == 0, sent.stdout + sent.stderr
    return int(sent.stdout)
