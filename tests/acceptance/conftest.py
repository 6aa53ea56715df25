"""Fixtures of all acceptance tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.wire import AdbServer
from tests.acceptance.lab import Witness
from tests.acceptance.runs import Lab

APPS = Path(__file__).with_name("apps")


@pytest.fixture(autouse=True)
def own_locks(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the leases and flight locks of each test in its own folder."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path_factory.mktemp("locks")))


@pytest.fixture
def locks(own_locks: None) -> Path:
    """Return the folder of the lock files."""
    return Path(os.environ["CLAWPERATOR_LEASE_DIR"])


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """Start a phone and an emulator, with the apps of these tests."""
    apps = sorted(APPS.glob("*.yaml"))
    with Simulator(devices=1, emulators=1, seed=1, time_scale=0.05, apps=apps) as simulator:
        yield simulator


@pytest.fixture(scope="session")
def connected(simulator: Simulator) -> Iterator[Clawperator]:
    """Connect to the phone once."""
    address = f"{simulator.adb_host}:{simulator.adb_port}"
    with connect(simulator.serials[0], adb=address) as claw:
        yield claw


@pytest.fixture(params=["documented", "0.5.3"])
def claw(connected: Clawperator, request: pytest.FixtureRequest) -> Clawperator:
    """Return a client of the phone after a reset, with either Operator."""
    connected.device.shell("sim reset")
    connected.device.shell(f"sim profile {request.param}")
    return connected


@pytest.fixture
def witness(simulator: Simulator) -> Iterator[Witness]:
    """Open a second connection to the phone, which is reset before and after the test."""
    witness = Witness(AdbServer(simulator.adb_host, simulator.adb_port), simulator.serials[0])
    for command in ("reset", "profile documented", "stats reset"):
        witness.sim(command)
    yield witness
    witness.set_back()


@pytest.fixture(scope="session")
def two_phones() -> Iterator[Simulator]:
    """Start the phones that whole runs share."""
    with Simulator(devices=2, seed=1) as simulator:
        yield simulator


@pytest.fixture
def lab(two_phones: Simulator, tmp_path: Path) -> Iterator[Lab]:
    """Return the lab after a reset of its phones, and kill what is left of its runs."""
    lab = Lab(tmp_path, two_phones)
    for phone in lab.phones:
        phone.wait_for_state("device")
        phone.sim("reset")
        phone.sim("stats reset")
    yield lab
    lab.close()
