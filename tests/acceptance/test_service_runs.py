"""Runs of pytest on the devices of a service: all that they do over adb, with leases there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from tests.acceptance.test_example_suite import run
from tests.doubles.service import RunningService, running_service

SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
#: The lessons that need more than executions; all of them when soaking.
LESSONS = (
    ["example_suite"]
    if SOAK
    else [
        "example_suite/test_09_app_fixtures.py",
        "example_suite/test_11_devices.py",
        "example_suite/test_13_evidence.py",
    ]
)

WAYS = [["-n", "auto"], *([[]] if SOAK else [])]


@pytest.fixture
def service(own_locks: None) -> Iterator[RunningService]:
    """Run a service on two phones."""
    with (
        Simulator(devices=2, seed=6, time_scale=0.02) as simulator,
        running_service(simulator) as service,
    ):
        yield service


@pytest.mark.parametrize("spread", WAYS, ids=" ".join)
def test_the_example_suite_passes_through_a_service(
    service: RunningService, spread: list[str], tmp_path: Path
) -> None:
    """In full: nothing is skipped that runs over adb; with workers, on all its devices."""
    seen: set[str] = set()
    leasing = service.service.rack.leasing
    take = leasing.take

    async def watched(serial: str, *arguments: object, **named: object) -> object:
        seen.add(serial)
        return await take(serial, *arguments, **named)  # type: ignore[arg-type] # passed on

    leasing.take = watched  # type: ignore[assignment,method-assign] # to see what is leased
    device = ["-o", "claw_device=", "--claw-device", f"{service.url}/*"]

    ran = run(*LESSONS, *device, *spread, output=tmp_path)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    reasons = re.findall(r"^SKIPPED \[\d+\] \S+ (.*)$", ran.stdout, re.MULTILINE)
    assert all("com.example.somewhere.else is not installed" in reason for reason in reasons)
    assert len(seen) == (2 if spread else 1)
    assert leasing.all() == []
