"""A host with one device, and a runner on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.remote.runner import RemoteRunner
from tests.doubles.host import HostDouble, running_host


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
