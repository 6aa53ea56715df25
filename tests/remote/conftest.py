"""A host with one device, a runner on it, and a service on two simulated phones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.remote.runner import RemoteRunner
from pytest_clawperator.simulator import Simulator
from tests.doubles.host import HostDouble, running_host
from tests.doubles.service import RunningService, running_service


@pytest.fixture
def host() -> Iterator[HostDouble]:
    """Run a host with one device, on which everything succeeds."""
    with running_host() as host:
        yield host


@pytest.fixture
def runner(host: HostDouble) -> Iterator[RemoteRunner]:
    """Make a runner on that host's device."""
    runner = RemoteRunner(host.url)
    yield runner
    runner.close()


@pytest.fixture(scope="session")
def phones() -> Iterator[Simulator]:
    """Start two phones."""
    with Simulator(devices=2, seed=1, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture(autouse=True)
def nothing_from_outside(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep the environment from choosing, and locks in a folder of the test's own."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path_factory.mktemp("locks")))
    for name in ("ANDROID_SERIAL", "CLAWPERATOR_OPERATOR_PACKAGE", "CLAWPERATOR_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def service(phones: Simulator, nothing_from_outside: None) -> Iterator[RunningService]:
    """Run a service on the phones."""
    with running_service(phones) as service:
        yield service
