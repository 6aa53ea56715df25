"""The fixtures: a ladder from the settings to a client, each rung for a conftest to replace.

``clawperator_settings`` → ``clawperator_lease`` → ``clawperator_transport`` →
``clawperator_client`` → ``clawperator``; all but the last live as long as the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.plugin import bring_in, markers
from pytest_clawperator.plugin.options import settings_of

if TYPE_CHECKING:
    from pytest_clawperator.contracts.device import DeviceInfo
    from pytest_clawperator.contracts.payload import Execution
    from pytest_clawperator.devices.pool import Lease
    from pytest_clawperator.execution.client import Clawperator
    from pytest_clawperator.plugin.artifacts import Artifacts
    from pytest_clawperator.plugin.settings import Settings
    from pytest_clawperator.transport.interface import Transport


@pytest.fixture(scope="session")
def clawperator_settings(request: pytest.FixtureRequest) -> Settings:
    """Give the options of this run."""
    return settings_of(request.config)


@pytest.fixture(scope="session")
def clawperator_lease(request: pytest.FixtureRequest) -> Lease:
    """Give the device that this process may use, and how it is reached."""
    __tracebackhide__ = True
    from pytest_clawperator.plugin.hints import in_options
    from pytest_clawperator.plugin.leasing import lease_of

    bring_in(request.config)
    return in_options(lambda: lease_of(request.config))


@pytest.fixture(scope="session")
def clawperator_transport(
    request: pytest.FixtureRequest, clawperator_lease: Lease
) -> Iterator[Transport]:
    """Reach the device over adb; a device behind a url has no transport."""
    __tracebackhide__ = True
    from pytest_clawperator.plugin.connecting import transport_of
    from pytest_clawperator.plugin.hints import in_options

    transport = in_options(lambda: transport_of(request.config, clawperator_lease))
    yield transport
    transport.close()


@pytest.fixture(scope="session")
def clawperator_client(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_lease: Lease
) -> Iterator[Clawperator]:
    """Give the client of this process, connected once, for what is done once: logging in, say.

    Tests take ``clawperator``, which is the same client, checked before each of them.
    """
    __tracebackhide__ = True
    from pytest_clawperator.plugin.connecting import client_of
    from pytest_clawperator.plugin.hints import in_options

    transport = None
    if clawperator_lease.url is None:
        transport = request.getfixturevalue("clawperator_transport")
    config, hook = request.config, request.config.hook
    client = in_options(
        lambda: client_of(config, clawperator_settings, clawperator_lease, transport)
    )
    device = client.device.info
    try:
        hook.pytest_clawperator_device_ready(device=device, client=client)
        yield client
    finally:
        client.close()
        failed = request.session.testsfailed > 0
        hook.pytest_clawperator_device_released(device=device, failed=failed)


@pytest.fixture(scope="session")
def clawperator_device(clawperator_client: Clawperator) -> DeviceInfo:
    """Tell what the device is: its serial, model, API level, screen and so on."""
    return clawperator_client.device.info


@pytest.fixture
def _clawperator_requirements(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_device: DeviceInfo
) -> None:
    """Skip a test whose ``claw_device`` markers the device does not meet."""
    __tracebackhide__ = True
    for requirements in markers.requirements_of(request.node):
        unmet = requirements.unmet(clawperator_device)
        if unmet:
            reason = f"claw_device: {'; '.join(unmet)}: {clawperator_device}"
            _unfit(reason, strict=clawperator_settings.strict)


@pytest.fixture
def clawperator(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_client: Clawperator
) -> Iterator[Clawperator]:
    """Give the client on this worker's device, which was checked just now.

    The device is online, its screen on and unlocked, its Operator answers, and nothing is in
    flight. Apps are as the test before left them, unless a ``claw_app`` marker says
    otherwise. What the test changes through ``clawperator.device`` is put back after it.
    """
    __tracebackhide__ = True
    from pytest_clawperator.plugin.connecting import ensure_health
    from pytest_clawperator.plugin.hints import in_options

    client = clawperator_client
    request.node.user_properties.append(("clawperator_device", client.serial))
    in_options(lambda: ensure_health(request.config, client))
    with ExitStack() as after:
        after.callback(in_options, client.device.restore)
        after.callback(setattr, client, "timeout", client.timeout)
        timeout = markers.timeout_of(request.node)
        client.timeout = client.timeout if timeout is None else timeout
        use = markers.app_of(request.node)
        if use is not None:
            from pytest_clawperator.plugin.apps import is_missing, using_app

            if is_missing(client, use):
                reason = f"claw_app: {use.package} is not installed on {client.device.info}"
                _unfit(reason, strict=clawperator_settings.strict)
            after.enter_context(using_app(client, use))
        yield client


@pytest.fixture
def clawperator_payload(request: pytest.FixtureRequest) -> Execution:
    """Give the payload of the test's closest ``claw_payload`` marker, ready to be executed."""
    __tracebackhide__ = True
    from pytest_clawperator.plugin.payloads import load_payload

    declared = markers.payloads_of(request.node)
    if not declared:
        pytest.fail(
            "clawperator_payload: the test declares no payload; mark it with"
            " @pytest.mark.claw_payload('payloads/login.json')",
            pytrace=False,
        )
    return load_payload(declared[0])


@pytest.fixture
def clawperator_artifacts(request: pytest.FixtureRequest) -> Artifacts:
    """Give the folder of this test, and attach files to its reports."""
    from pytest_clawperator.plugin.recording import recorder_of

    bring_in(request.config)
    return recorder_of(request.node).artifacts


def _unfit(reason: str, *, strict: bool) -> None:
    __tracebackhide__ = True
    if strict:
        pytest.fail(f"{reason} (--claw-strict)", pytrace=False)
    pytest.skip(reason)
