"""The fixtures: a ladder from the settings to a client, each rung for a conftest to replace.

``clawperator_settings`` → ``clawperator_lease`` → ``clawperator_transport`` →
``clawperator_client`` → ``clawperator``; all but the last live as long as the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from inspect import getattr_static
from reprlib import repr as short_repr
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.plugin import bring_in, markers
from pytest_clawperator.plugin.evidence.used_clients import DEVICE_PROPERTY, close_later
from pytest_clawperator.plugin.options import settings_of
from pytest_clawperator.plugin.stash import HEALTH

if TYPE_CHECKING:
    from pytest_clawperator.client.client import Clawperator
    from pytest_clawperator.contracts.device import DeviceInfo
    from pytest_clawperator.contracts.payload import Execution
    from pytest_clawperator.devices.pool import Lease
    from pytest_clawperator.plugin.evidence.artifacts import Artifacts
    from pytest_clawperator.plugin.leasing.spare_devices import SeveralDevices
    from pytest_clawperator.plugin.settings import Settings
    from pytest_clawperator.transport.interface import Transport

# How long actions look for a node on the client that this run connected.
_TIMEOUT = pytest.StashKey[float]()


@pytest.fixture(scope="session")
def clawperator_settings(request: pytest.FixtureRequest) -> Settings:
    """Give the options of this run."""
    return settings_of(request.config)


@pytest.fixture(scope="session")
def clawperator_lease(request: pytest.FixtureRequest, clawperator_settings: Settings) -> Lease:
    """Give the device that this process may use, and how it is reached.

    With ``--claw-matrix`` its parameter is a class of devices.
    """
    __tracebackhide__ = True
    from pytest_clawperator.plugin.leasing.worker_device import lacking, lease_of
    from pytest_clawperator.plugin.reporting.hints import in_options

    config, device_class = request.config, getattr(request, "param", None)
    bring_in(config)
    if device_class is not None and (reason := in_options(lambda: lacking(config, device_class))):
        _unfit(reason, strict=clawperator_settings.strict)
    return in_options(lambda: lease_of(config, device_class))


@pytest.fixture(scope="session")
def clawperator_transport(
    request: pytest.FixtureRequest, clawperator_lease: Lease
) -> Iterator[Transport]:
    """Reach the device over adb; a device behind a url has no transport."""
    __tracebackhide__ = True
    from pytest_clawperator.plugin.leasing.early_connection import transport_for
    from pytest_clawperator.plugin.reporting.hints import in_options

    _check_rungs(clawperator_lease=clawperator_lease)
    transport = in_options(lambda: transport_for(request.config, clawperator_lease))
    yield transport
    close_later(request.config, transport.close)


@pytest.fixture(scope="session")
def clawperator_client(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_lease: Lease
) -> Iterator[Clawperator]:
    """Give the client of this process, connected once, for what is done once: logging in, say.

    Tests take ``clawperator``, which is the same client, checked before each of them.
    """
    __tracebackhide__ = True
    from pytest_clawperator.plugin.leasing.early_connection import client_for
    from pytest_clawperator.plugin.reporting.hints import in_options

    _check_rungs(clawperator_settings=clawperator_settings, clawperator_lease=clawperator_lease)
    transport = None
    if clawperator_lease.url is None:
        transport = request.getfixturevalue("clawperator_transport")
        _check_rungs(clawperator_transport=transport)
    config, hook = request.config, request.config.hook
    client = in_options(
        lambda: client_for(config, clawperator_settings, clawperator_lease, transport)
    )
    config.stash[_TIMEOUT] = client.timeout
    device, session = client.device.info, request.session

    def end() -> None:
        _put_back_all(config, client)
        client.close()
        failed = session.testsfailed > 0
        hook.pytest_clawperator_device_released(device=device, failed=failed)

    try:
        hook.pytest_clawperator_device_ready(device=device, client=client)
        yield client
    finally:
        close_later(config, end)


@pytest.fixture(scope="session")
def clawperator_device(clawperator_client: Clawperator) -> DeviceInfo:
    """Tell what the device is: its serial, model, API level, screen and so on."""
    __tracebackhide__ = True
    _check_rungs(clawperator_client=clawperator_client)
    return clawperator_client.device.info


@pytest.fixture
def _clawperator_requirements(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_device: DeviceInfo
) -> None:
    """Skip a test whose ``claw_device`` markers the device does not meet."""
    __tracebackhide__ = True
    _check_rungs(clawperator_settings=clawperator_settings)
    for requirements in markers.requirements_of(request.node):
        unmet = requirements.unmet(clawperator_device)
        if unmet:
            reason = f"claw_device: {'; '.join(unmet)}: {clawperator_device}"
            _unfit(reason, strict=clawperator_settings.strict)


@pytest.fixture
def clawperator(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator_client: Clawperator
) -> Clawperator:
    """Give the client on this worker's device, which was checked just now.

    The device is online, its screen on and unlocked, its Operator answers, and nothing is in
    flight. Apps are as the test before left them, unless a ``claw_app`` marker says
    otherwise. What the test changes through ``clawperator.device`` is put back after it;
    what fixtures of a wider scope changed stays until the run ends.
    """
    __tracebackhide__ = True
    from pytest_clawperator.plugin.leasing.connecting import ensure_health
    from pytest_clawperator.plugin.reporting.hints import in_options

    _check_rungs(clawperator_settings=clawperator_settings, clawperator_client=clawperator_client)
    client = clawperator_client
    used = (DEVICE_PROPERTY, client.serial)
    if used not in request.node.user_properties:  # another attempt has it already
        request.node.user_properties.append(used)
    in_options(lambda: ensure_health(request.config, client))
    _put_back_after(request, client)
    client.timeout = _timeout_of(request, client, clawperator_settings)
    use = markers.app_of(request.node)
    if use is not None:
        _use_app(request, client, use, strict=clawperator_settings.strict)
    return client


@pytest.fixture
def clawperator_devices(
    request: pytest.FixtureRequest, clawperator_settings: Settings, clawperator: Clawperator
) -> Iterator[SeveralDevices]:
    """Give a function that gives a test several devices.

    ``alice, bob = clawperator_devices(2)``: the first is the test's own, the others are taken
    together from the spare devices of the run (``--claw-spare-devices``), and are given back
    when the test ends.
    """
    __tracebackhide__ = True
    from pytest_clawperator.plugin.leasing.spare_devices import several
    from pytest_clawperator.plugin.reporting.hints import in_options

    with ExitStack() as after:
        devices = several(request.config, clawperator_settings, clawperator, after)
        yield lambda count: in_options(lambda: devices(count))


@pytest.fixture
def clawperator_payload(request: pytest.FixtureRequest) -> Execution:
    """Give the payload of the test's closest ``claw_payload`` marker, ready to be executed."""
    __tracebackhide__ = True
    from pytest_clawperator.plugin.features.payloads import load_payload

    declared = markers.payloads_of(request.node)
    if not declared:
        pytest.fail(
            "clawperator_payload: the test declares no payload; mark it with"
            " @pytest.mark.claw_payload('payloads/login.json')",
            pytrace=False,
        )
    return load_payload(declared[0])


@pytest.fixture
def clawperator_artifacts(
    request: pytest.FixtureRequest, clawperator_settings: Settings
) -> Artifacts:
    """Give the folder of this test, and attach files to its reports."""
    __tracebackhide__ = True
    from pytest_clawperator.plugin.evidence.on_failure import recorder_of

    _check_rungs(clawperator_settings=clawperator_settings)
    bring_in(request.config)
    return recorder_of(request.node).artifacts


def _unfit(reason: str, *, strict: bool) -> None:
    __tracebackhide__ = True
    if strict:
        pytest.fail(f"{reason} (--claw-strict)", pytrace=False)
    pytest.skip(reason)


def _put_back_after(request: pytest.FixtureRequest, client: Clawperator) -> None:
    """Have what the test changes put back after it, and what is left of an earlier one now.

    Unlike what stands after a ``yield``, a finalizer waits until the evidence of a failed
    setup is taken.
    """
    __tracebackhide__ = True
    from pytest_clawperator.plugin.reporting.hints import in_options

    changes = ExitStack()
    in_options(lambda: changes.enter_context(client.device.restoring()))
    request.addfinalizer(partial(in_options, changes.close))
    request.addfinalizer(partial(setattr, client, "timeout", client.timeout))


def _use_app(
    request: pytest.FixtureRequest, client: Clawperator, use: markers.AppUse, *, strict: bool
) -> None:
    """Begin with the app of a ``claw_app`` marker, and end with it."""
    __tracebackhide__ = True
    from pytest_clawperator.plugin.features.apps import begin_app, end_app, is_missing
    from pytest_clawperator.plugin.reporting.events import events_of

    if is_missing(client, use):
        reason = f"claw_app: {use.package} is not installed on {client.device.info}"
        _unfit(reason, strict=strict)
    begin_app(client, use, tell=partial(events_of(request.config).notice, client.serial))
    request.addfinalizer(partial(end_app, client, use))


def _timeout_of(request: pytest.FixtureRequest, client: Clawperator, settings: Settings) -> float:
    """Give how long a test looks for nodes: its marker says, or its settings, or the client.

    The settings of a folder may be others than those that the client was connected with; a
    timeout that somebody gave the client stays.
    """
    marked = markers.timeout_of(request.node)
    if marked is not None:
        return marked
    is_usual = client.timeout == request.config.stash.get(_TIMEOUT, None)
    return settings.timeout if is_usual else client.timeout


def _put_back_all(config: pytest.Config, client: Clawperator) -> None:
    """Put back what fixtures of the run changed; what fails is told, as no test is to blame."""
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.plugin.reporting.events import events_of

    if any(
        health.is_put_aside and runner is client.runner
        for runner, health in config.stash.get(HEALTH, {}).items()
    ):
        return  # asking such a device would only keep everybody waiting
    try:
        client.device.restore()
    except ClawperatorError as error:
        events_of(config).notice(client.serial, error.message)


def _check_rungs(**rungs: object) -> None:
    """Refuse what a fixture of the ladder gave, if a conftest has it give something else."""
    __tracebackhide__ = True
    from pytest_clawperator.client.client import Clawperator
    from pytest_clawperator.devices.pool import Lease
    from pytest_clawperator.plugin.settings import Settings

    kinds = {
        "clawperator_settings": Settings,
        "clawperator_lease": Lease,
        "clawperator_client": Clawperator,
    }
    for name, given in rungs.items():
        kind = kinds.get(name)
        if kind is None:
            _refuse_unless(_is_transport(given), name, given, "Transport")
        else:
            _refuse_unless(isinstance(given, kind), name, given, kind.__name__)


def _is_transport(given: object) -> bool:
    from pytest_clawperator.transport.interface import Transport

    wanted = [name for name in vars(Transport) if not name.startswith("_")]
    return all(getattr_static(given, name, None) is not None for name in wanted)


def _refuse_unless(fits: bool, name: str, given: object, wanted: str) -> None:
    __tracebackhide__ = True
    if fits:
        return
    from pytest_clawperator.errors import ConfigurationError

    raise ConfigurationError(
        f"the fixture {name} gave {short_repr(given)}, wanted a {wanted}",
        hint=f"Have the fixture that replaces it return or yield a pytest_clawperator.{wanted};"
        " `pytest --fixtures -v` says where that is.",
    )
