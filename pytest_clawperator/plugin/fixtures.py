"""The fixtures: a ladder from the settings to a client, each rung for a conftest to replace.

``clawperator_settings`` → ``clawperator_lease`` → ``clawperator_transport`` →
``clawperator_client`` → ``clawperator``; all but the last live as long as the run. ``ladder.py``
has what they do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.plugin.usage import behind_gate

if TYPE_CHECKING:
    from types import ModuleType

    from pytest_clawperator.client.client import Clawperator
    from pytest_clawperator.contracts.device_info import DeviceInfo
    from pytest_clawperator.contracts.payload import Execution
    from pytest_clawperator.devices.pool import Lease
    from pytest_clawperator.plugin.app_state import ReachCheckpoint
    from pytest_clawperator.plugin.evidence import Artifacts
    from pytest_clawperator.plugin.ladder import SeveralDevices
    from pytest_clawperator.plugin.settings import Settings
    from pytest_clawperator.transport.interface import Transport


def _ladder(request: pytest.FixtureRequest) -> ModuleType:
    return behind_gate(request.config, "ladder")


@pytest.fixture(scope="session")
def clawperator_settings(request: pytest.FixtureRequest) -> Settings:
    """Return the options of this run."""
    found: Settings = behind_gate(request.config, "settings").settings_of(request.config)
    return found


@pytest.fixture(scope="session")
def clawperator_lease(request: pytest.FixtureRequest, clawperator_settings: Settings) -> Lease:
    """Return the device that this process may use, and how it is reached.

    With ``--claw-matrix`` its parameter is a class of devices.
    """
    __tracebackhide__ = True
    found: Lease = _ladder(request).lease(request, clawperator_settings)
    return found


@pytest.fixture(scope="session")
def clawperator_transport(
    request: pytest.FixtureRequest, clawperator_lease: Lease
) -> Iterator[Transport]:
    """Reach the device over adb; a device behind a url has no transport."""
    __tracebackhide__ = True
    yield from _ladder(request).transport(request, clawperator_lease)


@pytest.fixture(scope="session")
def clawperator_client(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_lease: Lease
) -> Iterator[Clawperator]:
    """Return the client of this process, connected once, for what is done once, such as a login.

    Tests take ``clawperator``, which is the same client, checked before each of them.
    """
    __tracebackhide__ = True
    yield from _ladder(request).client(request, clawperator_settings, clawperator_lease)


@pytest.fixture(scope="session")
def clawperator_device(
    request: pytest.FixtureRequest, clawperator_client: Clawperator
) -> DeviceInfo:
    """Return the properties of the device: its serial, model, API level, screen and so on."""
    __tracebackhide__ = True
    found: DeviceInfo = _ladder(request).device(clawperator_client)
    return found


@pytest.fixture
def _clawperator_requirements(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_device: DeviceInfo
) -> None:
    """Skip a test whose ``claw_device`` markers the device does not meet."""
    __tracebackhide__ = True
    _ladder(request).check_device(request, clawperator_settings, clawperator_device)


@pytest.fixture
def clawperator(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_client: Clawperator
) -> Clawperator:
    """Return the client on this worker's device, which was checked just now.

    The device is online, its screen on and unlocked, its Operator answers, and nothing is in
    flight. Apps are as the previous test left them, unless a ``claw_app`` marker says
    otherwise. What the test changes through ``clawperator.device`` is put back after it;
    what fixtures of a wider scope changed stays until the run ends.
    """
    __tracebackhide__ = True
    ladder = _ladder(request)
    found: Clawperator = ladder.client_for_test(request, clawperator_settings, clawperator_client)
    return found


@pytest.fixture
def clawperator_devices(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator: Clawperator
) -> Iterator[SeveralDevices]:
    """Return a function that gives a test several devices.

    ``alice, bob = clawperator_devices(2)``: the first is the test's own, the others are taken
    together from the spare devices of the run (``--claw-spare-devices``), and are given back
    when the test ends.
    """
    __tracebackhide__ = True
    yield from _ladder(request).several(request, clawperator_settings, clawperator)


@pytest.fixture
def clawperator_checkpoint(
    request: pytest.FixtureRequest, clawperator: Clawperator
) -> ReachCheckpoint:
    """Return a function that brings the device into a saved state, which is built once.

    ``clawperator_checkpoint("logged-in", build=log_in, app="com.example.bank")``: on an
    emulator, the state after ``log_in(clawperator)`` is saved, and restored when it is asked
    for again. Another device is cleared of the app's data, and ``log_in`` is called each time.
    """
    __tracebackhide__ = True
    found: ReachCheckpoint = _ladder(request).checkpoint(request, clawperator)
    return found


@pytest.fixture
def clawperator_payload(request: pytest.FixtureRequest) -> Execution:
    """Return the payload of the test's closest ``claw_payload`` marker, ready to be executed."""
    __tracebackhide__ = True
    found: Execution = _ladder(request).payload(request)
    return found


@pytest.fixture
def clawperator_artifacts(
    request: pytest.FixtureRequest, clawperator_settings: Settings
) -> Artifacts:
    """Return the folder of this test, and attach files to its reports."""
    __tracebackhide__ = True
    found: Artifacts = _ladder(request).artifacts(request, clawperator_settings)
    return found
