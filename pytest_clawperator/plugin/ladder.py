"""What the fixtures do: from a lease to a client that works, checked before each test.

``plugin/fixtures.py`` declares them; the body of each is a function here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from inspect import getattr_static
from queue import Empty, Queue
from reprlib import repr as short_repr
from typing import Any, Protocol, TypeVar

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.events import Event, ExecutionFinished
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.devices.connection import chosen_package, open_client, open_runner
from pytest_clawperator.devices.health import Health, connect_healed, is_somebody_elses
from pytest_clawperator.devices.lease import await_landing, lend
from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    DeviceError,
    DeviceUnavailableError,
    DispatchError,
    ExecutionsOnlyError,
    LeaseError,
    TransportError,
)
from pytest_clawperator.execution.flight import Clearance, always_clear
from pytest_clawperator.execution.pipeline import Pipeline, Runner
from pytest_clawperator.execution.postprocess import Processor
from pytest_clawperator.plugin import app_state, failures, marker_values
from pytest_clawperator.plugin.clients import client_connected, close_later
from pytest_clawperator.plugin.collectors import registry_of
from pytest_clawperator.plugin.device_needs import runs_in_another_class, skip_or_fail
from pytest_clawperator.plugin.evidence import Artifacts
from pytest_clawperator.plugin.leasing import ALONE, lease_of, spares_of, why_no_device
from pytest_clawperator.plugin.phones import PHONES_HINT, end_of_phones
from pytest_clawperator.plugin.recorder import has_failed, recorder_of
from pytest_clawperator.plugin.run import call_hook, events_of, run_id, wrong_result
from pytest_clawperator.plugin.settings import Settings, settings_of
from pytest_clawperator.plugin.stash import (
    CLIENT_DEFAULTS,
    DEVICE_HEALTH,
    DEVICE_POOL,
    EARLY_CONNECTION,
)
from pytest_clawperator.plugin.worker_input import ask, is_worker, reply, send
from pytest_clawperator.remote.leases import open_all_leases, server_of
from pytest_clawperator.remote.runner import open_remote
from pytest_clawperator.skills.run import DeviceSkills
from pytest_clawperator.text import visible
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.server import locate_server, reconnect


def transport_of(config: pytest.Config, lease: Lease) -> AdbTransport:
    """Open the transport to the device of a lease; nothing is sent yet."""
    if lease.adb is None:
        raise ExecutionsOnlyError(
            f"clawperator_transport: the device behind {lease.url} cannot be reached directly",
            serial=lease.serial,
        )
    notice = partial(events_of(config).notice, lease.serial)
    display = settings_of(config).display
    return AdbTransport(server_of(lease), lease.serial, on_notice=notice, display=display)


def client_of(
    config: pytest.Config,
    settings: Settings,
    lease: Lease,
    transport: Transport | None,
    *,
    keep: bool = False,
    heal: bool = True,
) -> Clawperator:
    """Connect the client: over the transport, or without one through the url of the lease.

    A device that is away is waited for once, if ``heal``. Should connecting fail, the transport
    is closed, unless others use it and it is to be kept.
    """
    runner: Runner
    events = events_of(config)
    if transport is not None:
        with ExitStack() as opened:
            if not keep:
                opened.callback(transport.close)
            connect = _healed if heal else _over_adb
            runner, device = connect(config, settings, lease, transport)
            opened.pop_all()
    else:
        assert lease.url is not None
        runner, device = open_remote(
            lease.url,
            serial=lease.serial,
            operator_package=settings.operator_package,
            observers=[events],
            clearance=_clearance(config, lease),
        )
    client = open_client(
        runner,
        device,
        timeout=settings.timeout,
        matchers=settings.matchers,
        skills=partial(_skills, config, lease, device),
    )
    client.owner = "the run"
    events.add(_ExecutionHook(config, device.info))
    return client


def ensure_health(config: pytest.Config, client: Clawperator) -> None:
    """Check that the device is ready for a test, and repair it; behind a url its host does so."""
    _require_phones(config, client.serial, in_trouble=False)
    runner = client.runner
    if not isinstance(runner, Pipeline):
        return
    known = config.stash.setdefault(DEVICE_HEALTH, {})
    if runner not in known:
        notice = partial(events_of(config).notice, client.serial)
        reconnect = partial(_reconnect, config, runner.transport, notice)
        known[runner] = Health(runner, notify=notice, reconnect=reconnect)
    known[runner].ensure()


def _require_phones(config: pytest.Config, serial: str, *, in_trouble: bool) -> None:
    """Raise for a simulated phone whose process ended: nothing brings it back."""
    end = end_of_phones(config, serial, in_trouble=in_trouble)
    if end is not None:
        raise DeviceUnavailableError(
            f"the device was put aside, because {end}",
            serial=serial,
            hint=PHONES_HINT,
            details={"put_aside": True},
        )


def _reconnect(config: pytest.Config, transport: Transport, notice: Callable[[str], None]) -> None:
    """Reconnect adb; the default server is started again if it is gone."""
    _require_phones(config, transport.serial, in_trouble=True)
    if not isinstance(transport, AdbTransport):
        return
    server, usual = transport.server, locate_server()
    if not settings_of(config).adb and str(server) == str(usual):
        server = usual
    reconnect(server, transport.serial, notify=notice)


def _healed(
    config: pytest.Config, settings: Settings, lease: Lease, transport: Transport
) -> tuple[Pipeline, Device]:
    """Make the device ready, waiting once for one that is away; one that fails is put aside.

    The error then has that detail, as the process has no other device for its tests.
    """
    notice = partial(events_of(config).notice, lease.serial)
    try:
        return connect_healed(
            partial(_over_adb, config, settings, lease, transport),
            transport,
            chosen_package(settings.operator_package),
            notify=notice,
            reconnect=partial(_reconnect, config, transport, notice),
        )
    except (DeviceError, TransportError, DispatchError) as error:
        if not is_somebody_elses(error):
            error.details["put_aside"] = True
        raise


def _over_adb(
    config: pytest.Config, settings: Settings, lease: Lease, transport: Transport
) -> tuple[Pipeline, Device]:
    """Make the device ready, and show what takes long or had to be repaired."""
    events, apk = events_of(config), settings.operator_apk
    if apk is not None:
        events.show(f"[{lease.serial}] installing {apk.name} ...")
    if lease.ticket is not None:
        await_landing(lease.key, serial=lease.serial, notify=partial(events.notice, lease.serial))
    return open_runner(
        transport,
        clearance=_clearance(config, lease),
        server=server_of(lease),
        operator_package=settings.operator_package,
        operator_apk=apk,
        repair=True,
        observers=[events],
        processors=_processors(config),
        keep=True,
    )


def _clearance(config: pytest.Config, lease: Lease) -> Clearance:
    """Return the check that the run still holds the device; a conftest's own device has none."""
    if lease.ticket is None:
        return always_clear
    store = open_all_leases(settings_of(config).lease, run_id=run_id(config))
    config.add_cleanup(store.close)
    return store.borrow(lease.ticket).clear


def _skills(config: pytest.Config, lease: Lease, device: Device) -> DeviceSkills:
    """Return the skills for a device; scripts that they start may use the run's lease."""
    settings, lent = settings_of(config), {}
    is_service = lease.adb is None or lease.adb.startswith(("http://", "https://"))
    if lease.ticket is not None:
        lent = lend(lease.ticket, key=lease.key, where=settings.lease)
    return DeviceSkills(
        adb=None if is_service else lease.adb,
        operator_package=device.info.operator_package,
        registry=partial(registry_of, config),
        more=lent,
    )


def _processors(config: pytest.Config) -> list[Processor]:
    """Return the steps that complete a result, the built-in ones first."""
    processors: list[Processor] = []
    hook = config.hook.pytest_clawperator_processors
    for result in reversed(call_hook(hook)):
        is_list = isinstance(result, Iterable)
        group: list[Any] = list(result) if is_list else []
        if not is_list or not all(map(callable, group)):
            raise wrong_result(hook.name, result, "a list of functions")
        processors.extend(group)
    return processors


class _ExecutionHook:
    """Calls the hook for each execution that ended."""

    def __init__(self, config: pytest.Config, device: DeviceInfo) -> None:
        self._hook = config.hook.pytest_clawperator_execution_finished
        self._device = device

    def __repr__(self) -> str:
        return "pytest_clawperator_execution_finished"

    def __call__(self, event: Event) -> None:
        if isinstance(event, ExecutionFinished):
            self._hook(execution=event.execution, envelope=event.result, device=self._device)


@dataclass(frozen=True, kw_only=True)
class EarlyConnection:
    """What was connected for which settings and lease; ``client`` is None if that failed."""

    settings: Settings
    lease: Lease
    transport: Transport
    client: Clawperator | None = None


def connect_early(config: pytest.Config) -> None:
    """Connect the device of this worker before its first test, while others still collect.

    Errors are left to the fixtures, which try again. The transport is kept after an error: it
    knows that the device does not answer.
    """
    settings = settings_of(config)
    with suppress(ClawperatorError):
        lease = lease_of(config)
        if lease.url is not None or settings.operator_apk is not None:
            return  # there is nothing to gain, or it takes long and its test should say so
        transport = transport_of(config, lease)
        early = EarlyConnection(settings=settings, lease=lease, transport=transport)
        config.stash[EARLY_CONNECTION] = early
        config.add_cleanup(transport.close)
        client = client_of(config, settings, lease, transport, keep=True, heal=False)
        config.stash[EARLY_CONNECTION] = replace(early, client=client)
        config.add_cleanup(client.runner.close)
        if isinstance(client.runner, Pipeline):
            notice = partial(events_of(config).notice, client.serial)
            Health(client.runner, notify=notice).check()  # opens what the first test would have to


def client_for(
    config: pytest.Config, settings: Settings, lease: Lease, transport: Transport | None
) -> Clawperator:
    """Return the client that was connected early, if it fits, once; else connect one."""
    early = config.stash.get(EARLY_CONNECTION, None)
    if early is not None and early.transport is transport and early.settings is settings:
        del config.stash[EARLY_CONNECTION]
        if early.client is not None:
            return early.client
    return client_of(config, settings, lease, transport, keep=True)


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
    early = request.config.stash.get(EARLY_CONNECTION, None)
    if early is not None and early.lease == lease:
        found: Transport = early.transport
    else:
        found = _for_all_tests(lambda: transport_of(request.config, lease))
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
    config.stash[CLIENT_DEFAULTS] = connected.timeout, connected.matchers
    device = connected.device.info

    def close() -> None:
        _restore(config, connected)
        connected.runner.close()
        failed = session.testsfailed > 0 or has_failed(config)
        config.hook.pytest_clawperator_device_released(device=device, failed=failed)

    try:
        config.hook.pytest_clawperator_device_ready(device=device, client=connected)
        yield connected
    finally:
        close_later(config, close)


def device(client: Clawperator) -> DeviceInfo:
    """Return the properties of a client's device."""
    __tracebackhide__ = True
    check_values(clawperator_client=client)
    return client.device.info


def check_device(request: pytest.FixtureRequest, settings: Settings, device: DeviceInfo) -> None:
    """Skip a test whose ``claw_device`` markers the device does not meet."""
    __tracebackhide__ = True
    check_values(clawperator_settings=settings)
    for requirements in marker_values.requirements_of(request.node):
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
    used = (failures.DEVICE_PROPERTY, visible(client.serial))
    if used not in request.node.user_properties:  # another attempt has it already
        request.node.user_properties.append(used)
    failures.in_options(lambda: ensure_health(request.config, client))
    _restore_after(request, client)
    _apply_defaults(request, client, settings)
    app_state.close_dialogs(client, notice=partial(events_of(request.config).notice, client.serial))
    use = marker_values.app_of(request.node)
    if use is not None:
        _use_app(request, client, use)
    return client


def checkpoint(request: pytest.FixtureRequest, client: Clawperator) -> app_state.ReachCheckpoint:
    """Return the function that brings the device of a test into a saved state."""
    __tracebackhide__ = True
    check_values(clawperator_client=client)
    check = partial(ensure_health, request.config, client)
    return app_state.reach_checkpoint(request.node, client, check=check)


def payload(request: pytest.FixtureRequest) -> Execution:
    """Return the payload of the test's closest ``claw_payload`` marker."""
    __tracebackhide__ = True
    declared = marker_values.payloads_of(request.node)
    if not declared:
        raise failures.beyond_xfail(
            "clawperator_payload: the test declares no payload; mark it with"
            " @pytest.mark.claw_payload('payloads/login.json')"
        )
    return marker_values.load_payload(declared[0])


def artifacts(request: pytest.FixtureRequest, settings: Settings) -> Artifacts:
    """Return the files of this test."""
    __tracebackhide__ = True
    check_values(clawperator_settings=settings)
    return recorder_of(request.node).artifacts


def _for_all_tests(do: Callable[[], T]) -> T:
    """Call a function once for all tests with a fixture; mark its error as shared by them."""
    __tracebackhide__ = True
    try:
        return failures.in_options(do)
    except ClawperatorError as error:
        failures.mark_shared(error, str(error).partition("\n")[0])
        raise


def _restore_after(request: pytest.FixtureRequest, client: Clawperator) -> None:
    """Restore after the test what it changes, and now what is left of an earlier one.

    Unlike what stands after a ``yield``, a finalizer waits until the evidence of a failed
    setup is taken.
    """
    __tracebackhide__ = True
    changes = ExitStack()
    failures.in_options(lambda: changes.enter_context(client.device.restoring()))
    request.addfinalizer(partial(failures.in_options, changes.close))
    request.addfinalizer(partial(setattr, client, "timeout", client.timeout))
    request.addfinalizer(partial(setattr, client, "matchers", client.matchers))


def _use_app(
    request: pytest.FixtureRequest, client: Clawperator, use: marker_values.AppUse
) -> None:
    """Start the app of a ``claw_app`` marker, and stop it after the test."""
    __tracebackhide__ = True
    if app_state.is_missing(client, use):
        if use.missing == "skip":
            pytest.skip(f"claw_app: {use.package} is not installed on {client.device.info}")
        raise app_state.missing_app(client, use)
    app_state.begin_app(client, use)
    request.addfinalizer(partial(app_state.end_app, request.node, client, use))


def _apply_defaults(
    request: pytest.FixtureRequest, client: Clawperator, settings: Settings
) -> None:
    """Set the timeout and the matchers of a test: by its markers, its settings, or the client.

    The settings of a folder may be others than those that the client was connected with; what was
    set on the client stays.
    """
    usual = request.config.stash.get(CLIENT_DEFAULTS, (None, None))
    timeout, matchers = (
        marker_values.timeout_of(request.node),
        marker_values.matchers_of(request.node),
    )
    if timeout is not None or client.timeout == usual[0]:
        client.timeout = settings.timeout if timeout is None else timeout
    if matchers is not None or client.matchers == usual[1]:
        client.matchers = matchers or settings.matchers


def _restore(config: pytest.Config, client: Clawperator) -> None:
    """Restore what session fixtures changed; a failure is only shown, as no test caused it."""
    if any(
        health.is_put_aside and runner is client.runner
        for runner, health in config.stash.get(DEVICE_HEALTH, {}).items()
    ):
        return  # asking such a device would only take time
    try:
        client.device.restore()
    except ClawperatorError as error:
        events_of(config).notice(client.serial, error.message)


# How long a test waits for other tests of its run to give spare devices back.
PATIENCE = 600.0

# The messages of workers: how many spare devices they want, that they give them back, and
# which of them does not work.
_WANT, _DONE, _BROKEN = "spares wanted", "spares done", "spare broken"


class SeveralDevices(Protocol):
    """What ``clawperator_devices`` returns: ``alice, bob = clawperator_devices(2)``."""

    def __call__(self, count: int) -> list[Clawperator]:
        """Return this many clients, each on another device; the first is the test's own."""


def several(
    request: pytest.FixtureRequest, settings: Settings, own: Clawperator
) -> Iterator[SeveralDevices]:
    """Yield the function that gives a test this many clients, of which the first is its own."""
    __tracebackhide__ = True
    config = request.config

    def devices(count: int) -> list[Clawperator]:
        if type(count) is not int or count < 1:
            raise ConfigurationError(
                f"clawperator_devices({count!r}) is not a number of devices",
                hint="Allowed is a number from 1 on: clawperator_devices(2).",
            )
        leases = _needed(config, count - 1) if count > 1 else []
        after.callback(_give_back, config)
        return [own, *(_connected(config, settings, lease, after) for lease in leases)]

    with ExitStack() as after:
        yield lambda count: failures.in_options(lambda: devices(count))


def receive(node: Any, topic: str, value: Any) -> None:
    """Answer a worker that wants spare devices, or take them back."""
    spares, worker_id = spares_of(node.config), node.gateway.id
    if topic == _DONE:
        spares.give_back(worker_id)
    elif topic == _BROKEN:
        spares.put_aside(value)
    elif topic == _WANT:
        try:
            spares.ask(worker_id, value, lambda given: reply(node, topic, _plain(node, given)))
        except ClawperatorError as error:
            reply(
                node,
                topic,
                {
                    "error": [
                        error.message,
                        failures.hint_of(error),
                        failures.device_trouble(error) is not None,
                    ]
                },
            )


def _plain(node: Any, leases: Sequence[Lease]) -> dict[str, Any]:
    return {"leases": [asdict(lease) for lease in _with_tickets(node.config, leases)]}


def _with_tickets(config: pytest.Config, leases: Sequence[Lease]) -> list[Lease]:
    """Return the leases with their current tickets: they were made when the run began."""
    return [config.stash[DEVICE_POOL].with_ticket(lease) for lease in leases]


def _needed(config: pytest.Config, count: int) -> list[Lease]:
    """Take spare devices; the test cannot run without them."""
    try:
        return _take(config, count)
    except ClawperatorError as error:
        failures.put_beyond_xfail(error)
        raise


def _take(config: pytest.Config, count: int) -> list[Lease]:
    if is_worker(config):
        try:
            answer = ask(config, _WANT, count, timeout=PATIENCE)
        except TimeoutError as exc:
            raise _not_free(count) from exc
        if "error" in answer:
            message, hint, is_broken = answer["error"]
            raise (DeviceUnavailableError if is_broken else ConfigurationError)(message, hint=hint)
        if not answer["leases"]:
            raise DeviceUnavailableError(
                "the spare devices that the test waited for did not work and were put aside",
                hint="Repair them, and run the test again.",
            )
        return [Lease(**lease) for lease in answer["leases"]]
    given: Queue[Sequence[Lease]] = Queue()
    spares_of(config).ask(ALONE, count, given.put)
    try:
        return _with_tickets(config, given.get_nowait())
    except Empty:
        raise _not_free(count) from None


def _give_back(config: pytest.Config) -> None:
    if is_worker(config):
        send(config, _DONE, None)
    else:
        spares_of(config).give_back(ALONE)


def _connected(
    config: pytest.Config, settings: Settings, lease: Lease, after: ExitStack
) -> Clawperator:
    """Connect a spare device for the test; one that does not work is put aside."""
    try:
        transport = None if lease.url is not None else transport_of(config, lease)
        client = client_of(config, settings, lease, transport)
        hook, device = config.hook, client.device.info
        after.callback(hook.pytest_clawperator_device_released, device=device, failed=False)
        after.callback(client.runner.close)
        hook.pytest_clawperator_device_ready(device=device, client=client)
        ensure_health(config, client)
        app_state.close_dialogs(client, notice=partial(events_of(config).notice, client.serial))
    except ClawperatorError as error:
        if failures.device_trouble(error) is not None:
            events_of(config).notice(lease.serial, "the spare device is put aside")
            if is_worker(config):
                send(config, _BROKEN, lease.serial)
            else:
                spares_of(config).put_aside(lease.serial)
        raise
    after.callback(client.device.restore)
    after.callback(client_connected(config, client, "clawperator_devices"))
    return client


def _not_free(count: int) -> LeaseError:
    return LeaseError(
        f"after {PATIENCE:g} s the {count} spare devices of this run are still in use",
        hint="Keep more of them from the workers with --claw-spare-devices.",
    )


_TYPES = {
    "clawperator_settings": Settings,
    "clawperator_lease": Lease,
    "clawperator_client": Clawperator,
}


def check_values(**values: object) -> None:
    """Raise if a fixture of this name, which a conftest may have replaced, has the wrong type."""
    __tracebackhide__ = True
    for name, value in values.items():
        wanted = _TYPES.get(name, Transport)
        if not (_is_transport(value) if wanted is Transport else isinstance(value, wanted)):
            kind = wanted.__name__
            raise ConfigurationError(
                f"the fixture {name} gave {short_repr(value)}, wanted a {kind}",
                hint="Have the fixture that replaces it return or yield a"
                f" pytest_clawperator.{kind}; `pytest --fixtures -v` says where that is.",
            )


def _is_transport(value: object) -> bool:
    wanted = [name for name in vars(Transport) if not name.startswith("_")]
    return all(getattr_static(value, name, None) is not None for name in wanted)
