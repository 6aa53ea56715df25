"""What tests of expectations share: clocks, and a simulated phone over the real wire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.assertions import golden as goldens
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.simulator import Simulator
from tests.doubles.camera import Camera
from tests.doubles.clock import FakeTime


@pytest.fixture
def expect() -> Expect:
    """Return an expect whose waiting takes no time."""
    return Expect(clock=FakeTime().clock)


@pytest.fixture
def real_expect() -> Expect:
    """Return an expect that really waits, and does not linger after a failure."""
    expect = Expect()
    expect.configure(linger=0)
    return expect


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """Start two phones: one to use, one to break."""
    with Simulator(devices=2, seed=1, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture(scope="session")
def claw(simulator: Simulator) -> Iterator[Clawperator]:
    """Connect to the first phone."""
    with connect(simulator.serials[0], adb=f"127.0.0.1:{simulator.adb_port}") as claw:
        yield claw


@pytest.fixture(autouse=True)
def own_store() -> Iterator[None]:
    """Restore the store of goldens after each test."""
    before = goldens.use(None)
    yield
    goldens.use(before)


@pytest.fixture
def camera(tmp_path: Path) -> Camera:
    """Return a device whose screen is drawn by the test."""
    return Camera(tmp_path)
