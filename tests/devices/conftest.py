"""A simulated phone that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """Start a phone and an emulator."""
    with Simulator(devices=1, emulators=1, seed=1, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture(scope="session")
def server(simulator: Simulator) -> AdbServer:
    """Return the adb server of the simulated devices."""
    return AdbServer(simulator.adb_host, simulator.adb_port)


@pytest.fixture
def phone(simulator: Simulator, server: AdbServer) -> Iterator[AdbTransport]:
    """Reach the phone, and set it back afterwards."""
    transport = AdbTransport(server, simulator.serials[0])
    yield transport
    transport.shell("sim reset")
    transport.close()


@pytest.fixture
def store(tmp_path: Path) -> FileLeases:
    """Return the leases of this run."""
    return FileLeases(run_id="mine", folder=tmp_path / "locks")


@pytest.fixture
def others(tmp_path: Path) -> FileLeases:
    """Return the same leases as another run sees them."""
    return FileLeases(run_id="theirs", folder=tmp_path / "locks")
