"""What the fixtures do: from a lease to a client that was checked before its test.

``plugin/fixtures.py`` declares them; each function here is the body of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.plan.proving import Matchers
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.evidence.artifacts import Artifacts
from pytest_clawperator.plugin.evidence.late_closing import close_later
from pytest_clawperator.plugin.evidence.on_failure import recorder_of
from pytest_clawperator.plugin.features.apps import begin_app, end_app, is_missing, missing_app
from pytest_clawperator.plugin.features.checkpoints import ReachCheckpoint, reach_checkpoint
from pytest_clawperator.plugin.features.payloads import load_payload
from pytest_clawperator.plugin.input.marker_values import (
    AppUse,
    app_of,
    matchers_of,
    payloads_of,
    requirements_of,
    timeout_of,
)
from pytest_clawperator.plugin.input.settings import Settings
from pytest_clawperator.plugin.leasing.connecting import ensure_health
from pytest_clawperator.plugin.leasing.early_connection import client_for, transport_for
from pytest_clawperator.plugin.leasing.fit.unfit_device import skip_or_fail
from pytest_clawperator.plugin.leasing.fit.unfit_tests import runs_in_another_class
from pytest_clawperator.plugin.leasing.own_device import lease_of, why_no_device
from pytest_clawperator.plugin.leasing.replaced_fixtures import check_values
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.session.hints import in_options
from pytest_clawperator.plugin.session.report_fields import DEVICE_PROPERTY
from pytest_clawperator.plugin.session.shared_failures import mark_shared
from pytest_clawperator.plugin.stash import CLIENT_MATCHERS, CLIENT_TIMEOUT, DEVICE_HEALTH
from pytest_clawperator.text import visible
from pytest_clawperator.transport.interface import Transport

T = TypeVar("T")


def lease(request: pytest.FixtureRequest, settings: Settings) -> Lease:
    """Return the device that this process may use; ``request.param`` is a class of a matrix."""
    __tracebackhide__ = True
    config, device_class = request.config, getattr(request, "param", None)
    if device_class is not None:
        reason = _for_all_tests(lambda: why_no_device(config, device_class))
        if reason is not None:
            skip_or_fail(reason, strict=settings.strict)
    return _for_all_tests(lambda: lease_of(config, device_class))


def transport(request: pytest.FixtureRequest, lease: Lease) -> Iterator[Transport]:
    """Yield the transport to the device; it is closed when the last test is reported."""
    __tracebackhide__ = True
    check_values(clawperator_lease=lease)
    found = _for_all_tests(lambda: transport_for(request.config, lease))
    yield found
    close_later(request.config, found.close)


def client(
    request: pytest.FixtureRequest, settings: Settings, lease: Lease
) -> Iterator[Clawperator]:
    """Yield the client of this process; it is closed when the last test is reported."""
    __tracebackhide__ = True
    check_values(clawperator_settings=settings, clawperator_lease=lease)
    transport = None
    if lease.url is None:
        transport = request.getfixturevalue("clawperator_transport")
        check_values(clawperator_transport=transport)
    config, session = request.config, request.session
    connected = _for_all_tests(lambda: client_for(config, settings, lease, transport))
    config.stash[CLIENT_TIMEOUT] = connected.timeout
    config.stash[CLIENT_MATCHERS] = connected.matchers
    device = connected.device.info

    def close() -> None:
        _restore(config, connected)
        connected.close()
        failed = session.testsfailed > 0
        config.hook.pytest_clawperator_device_released(device=device, failed=failed)

    try:
        config.hook.pytest_clawperator_device_ready(device=device, client=connected)
        yield connected
    finally:
        close_later(config, close)


def device(client: Clawperator) -> DeviceInfo:
    """Return what the device of a client is."""
    __tracebackhide__ = True
    check_values(clawperator_client=client)
    return client.device.info


def check_device(request: pytest.FixtureRequest, settings: Settings, device: DeviceInfo) -> None:
    """Skip a test whose ``claw_device`` markers the device does not meet."""
    __tracebackhide__ = True
    check_values(clawperator_settings=settings)
    for requirements in requirements_of(request.node):
        unmet = requirements.unmet(device)
        if unmet:
            is_strict = settings.strict and not runs_in_another_class(request.node)
            skip_or_fail(f"claw_device: {'; '.join(unmet)}", strict=is_strict, device=device)


def client_for_test(
    request: pytest.FixtureRequest, settings: Settings, client: Clawperator
) -> Clawperator:
    """Return the client, checked and prepared for a test as its markers ask."""
    __tracebackhide__ = True
    check_values(clawperator_settings=settings, clawperator_client=client)
    used = (DEVICE_PROPERTY, visible(client.serial))
    if used not in request.node.user_properties:  # another attempt has it already
        request.node.user_properties.append(used)
    in_options(lambda: ensure_health(request.config, client))
    _restore_after(request, client)
    client.timeout = _timeout_of(request, client, settings)
    client.matchers = _matchers_of(request, client, settings)
    use = app_of(request.node)
    if use is not None:
        _use_app(request, client, use)
    return client


def checkpoint(request: pytest.FixtureRequest, client: Clawperator) -> ReachCheckpoint:
    """Return the function that brings the device of a test into a state."""
    __tracebackhide__ = True
    check_values(clawperator_client=client)
    check = partial(ensure_health, request.config, client)
    return reach_checkpoint(request.node, client, check=check)


def payload(request: pytest.FixtureRequest) -> Execution:
    """Return the payload of the test's closest ``claw_payload`` marker."""
    __tracebackhide__ = True
    declared = payloads_of(request.node)
    if not declared:
        pytest.fail(
            "clawperator_payload: the test declares no payload; mark it with"
            " @pytest.mark.claw_payload('payloads/login.json')",
            pytrace=False,
        )
    return load_payload(declared[0])


def artifacts(request: pytest.FixtureRequest, settings: Settings) -> Artifacts:
    """Return the files of this test."""
    __tracebackhide__ = True
    check_values(clawperator_settings=settings)
    return recorder_of(request.node).artifacts


def _for_all_tests(do: Callable[[], T]) -> T:
    """Call a function whose error is that of every test with the fixture, as it is called once."""
    __tracebackhide__ = True
    try:
        return in_options(do)
    except ClawperatorError as error:
        mark_shared(error, str(error).partition("\n")[0])
        raise


def _restore_after(request: pytest.FixtureRequest, client: Clawperator) -> None:
    """Put back after the test what it changes, and now what is left of an earlier one.

    Unlike what stands after a ``yield``, a finalizer waits until the evidence of a failed
    setup is taken.
    """
    __tracebackhide__ = True
    changes = ExitStack()
    in_options(lambda: changes.enter_context(client.device.restoring()))
    request.addfinalizer(partial(in_options, changes.close))
    request.addfinalizer(partial(setattr, client, "timeout", client.timeout))
    request.addfinalizer(partial(setattr, client, "matchers", client.matchers))


def _use_app(request: pytest.FixtureRequest, client: Clawperator, use: AppUse) -> None:
    """Begin with the app of a ``claw_app`` marker, and end with it."""
    __tracebackhide__ = True
    if is_missing(client, use):
        if use.missing == "skip":
            pytest.skip(f"claw_app: {use.package} is not installed on {client.device.info}")
        raise missing_app(client, use)
    begin_app(client, use, notice=partial(events_of(request.config).notice, client.serial))
    request.addfinalizer(partial(end_app, client, use))


def _timeout_of(request: pytest.FixtureRequest, client: Clawperator, settings: Settings) -> float:
    """Return how long a test looks for nodes: as its marker says, its settings, or the client.

    The settings of a folder may be others than those that the client was connected with; a
    timeout that somebody gave the client stays.
    """
    marked = timeout_of(request.node)
    if marked is not None:
        return marked
    is_usual = client.timeout == request.config.stash.get(CLIENT_TIMEOUT, None)
    return settings.timeout if is_usual else client.timeout


def _matchers_of(
    request: pytest.FixtureRequest, client: Clawperator, settings: Settings
) -> Matchers:
    """Return what is so where several nodes fit: as the marker, the settings, or the client say."""
    marked = matchers_of(request.node)
    if marked is not None:
        return marked
    is_usual = client.matchers == request.config.stash.get(CLIENT_MATCHERS, None)
    return settings.matchers if is_usual else client.matchers


def _restore(config: pytest.Config, client: Clawperator) -> None:
    """Put back what fixtures of the run changed; a failure is shown, as no test is to blame."""
    if any(
        health.is_put_aside and runner is client.runner
        for runner, health in config.stash.get(DEVICE_HEALTH, {}).items()
    ):
        return  # asking such a device would only keep everybody waiting
    try:
        client.device.restore()
    except ClawperatorError as error:
        events_of(config).notice(client.serial, error.message)
