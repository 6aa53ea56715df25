"""A simulated phone that keeps the real time, and its examination."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE
from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.inventory import ConnectedDevice
from pytest_clawperator.doctor.examine import Examination, examine
from pytest_clawperator.doctor.report import Report
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.devices.conftest import server, simulator

__all__ = ["server", "simulator"]

Examine = Callable[..., Report]

HEALTHY = (
    "settings put global window_animation_scale 0;"
    " settings put global transition_animation_scale 0;"
    " settings put global animator_duration_scale 0"
)


@pytest.fixture(scope="session")
def timely_simulator() -> Iterator[Simulator]:
    """Start a phone whose clock is right: shorter pauses would put it ahead."""
    with Simulator(devices=1, seed=2) as simulator:
        yield simulator


@pytest.fixture
def patient(timely_simulator: Simulator) -> Iterator[AdbTransport]:
    """Connect to a healthy phone, and reset it afterwards."""
    server = AdbServer(timely_simulator.adb_host, timely_simulator.adb_port)
    transport = AdbTransport(server, timely_simulator.serials[0])
    transport.shell(HEALTHY)
    yield transport
    transport.shell("sim reset")
    transport.close()


@pytest.fixture
def leases(tmp_path: Path) -> FileLeases:
    """Return leases that no other test has."""
    return FileLeases(run_id="doctor", folder=tmp_path)


@pytest.fixture
def examined(patient: AdbTransport, leases: FileLeases) -> Examine:
    """Return the function that examines the phone."""

    def examined(**how: object) -> Report:
        options = {"package": OPERATOR_PACKAGE, "leases": leases, **how}
        device = ConnectedDevice(patient.serial, "device", patient.server)
        return examine(device, Examination(**options))  # type: ignore[arg-type]  # a test's own words

    return examined
