"""Simulated phones and a service on them, which the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pytest_clawperator.simulator import Simulator
from tests.doubles.service import RunningService, running_service


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """Start two phones."""
    with Simulator(devices=2, seed=1, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture(scope="session", autouse=True)
def own_locks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Use another folder for the locks of these tests, and an empty registry of skills."""
    folder = tmp_path_factory.mktemp("locks")
    registry = tmp_path_factory.mktemp("skills") / "skills-registry.json"
    registry.write_text('{"skills": []}')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLAWPERATOR_SKILLS_REGISTRY", str(registry))
        patch.setenv("CLAWPERATOR_LEASE_DIR", str(folder))
        patch.delenv("CLAWPERATOR_TOKEN", raising=False)
        yield folder


@pytest.fixture(scope="session")
def service(simulator: Simulator) -> Iterator[RunningService]:
    """Run a service on the phones."""
    with running_service(simulator) as service:
        yield service


@pytest.fixture
def serial(simulator: Simulator) -> str:
    """Return the serial of a phone."""
    return simulator.serials[0]


@pytest.fixture
def http(service: RunningService) -> Iterator[httpx.Client]:
    """Return a client of the service."""
    with httpx.Client(base_url=service.url, trust_env=False, timeout=30) as client:
        yield client


#: An execution that takes a moment, at the simulator's speed.
NAP = {"id": "nap", "type": "sleep", "params": {"durationMs": 400}}


def execution(*actions: dict[str, Any], command_id: str = "c-1") -> dict[str, Any]:
    """Make a whole payload."""
    steps = list(actions) or [{"id": "nap", "type": "sleep", "params": {"durationMs": 0}}]
    return {
        "commandId": command_id,
        "taskId": "t",
        "source": "test",
        "expectedFormat": "android-ui-automator",
        "timeoutMs": 10_000,
        "actions": steps,
    }
