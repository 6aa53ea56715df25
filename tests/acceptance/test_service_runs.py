"""Runs of pytest on the devices of a service: all that they do over adb, with leases there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from tests.acceptance.test_example_suite import run
from tests.doubles.pytest_process import passes, skips
from tests.doubles.service import RunningService, executions_only, running_service

SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
#: The lessons that need more than executions, over everything and over executions only.
LESSONS = ("09_app_fixtures", "11_devices", "13_evidence")
PUBLISHED_LESSONS = ("07_envelopes", "08_goldens", "09_app_fixtures", "11_devices")
WAYS = [["-n", "auto"], *([[]] if SOAK else [])]


def files(lessons: Sequence[str]) -> list[str]:
    """Return the files of these lessons; the folder of all when soaking."""
    return ["example_suite"] if SOAK else [f"example_suite/test_{one}.py" for one in lessons]


@pytest.fixture
def phones(own_locks: None) -> Iterator[Simulator]:
    """Start two phones."""
    with Simulator(devices=2, seed=6, time_scale=0.02) as simulator:
        yield simulator


@pytest.fixture
def service(phones: Simulator) -> Iterator[RunningService]:
    """Run a service on two phones."""
    with running_service(phones) as service:
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

    ran = run(*files(LESSONS), *device, *spread, output=tmp_path)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    reasons = skips(ran.stdout)
    known = ("com.example.somewhere.else is not installed", "run_skill is not possible here")
    assert all(any(part in reason for part in known) for reason in reasons)
    assert len(seen) == (2 if spread else 1)
    assert leasing.all() == []


def test_lessons_that_the_published_program_cannot_run_are_skipped(
    phones: Simulator, tmp_path: Path
) -> None:
    """The lessons that need executions pass; each of the others names what it lacks."""
    with executions_only(phones) as host:
        device = ["-o", "claw_device=", "--claw-device", f"{host.url}/*"]

        ran = run(
            *files(PUBLISHED_LESSONS), *device, "-n", "auto", "--claw-no-strict", output=tmp_path
        )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    known = ("is not possible here", "is not here", "is unknown here", "does not report it")
    lacking = [one for one in skips(ran.stdout) if any(part in one for part in known)]
    absent = [one for one in skips(ran.stdout) if "somewhere.else'): it is not installed" in one]
    assert len(lacking) + len(absent) == len(skips(ran.stdout))
    assert len(absent) == 1
    assert {"device.clear_data", "device.orientation"} <= {
        name for one in lacking for name in re.findall(r"device\.\w+", one)
    }
    assert passes(ran.stdout) >= 5
