"""From a lease to a client that works, and to a device that is ready for a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.events import Event, ExecutionFinished
from pytest_clawperator.devices.connection import chosen_package, open_client, open_runner
from pytest_clawperator.devices.health import Health, connect_healed, is_somebody_elses
from pytest_clawperator.devices.lease import await_landing, lend
from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.errors import (
    ClawperatorError,
    DeviceError,
    DeviceUnavailableError,
    DispatchError,
    ExecutionsOnlyError,
    TransportError,
)
from pytest_clawperator.execution.flight import Clearance, always_clear
from pytest_clawperator.execution.pipeline import Pipeline, Runner
from pytest_clawperator.execution.postprocess import Processor
from pytest_clawperator.plugin.collectors import registry_of
from pytest_clawperator.plugin.leasing import lease_of
from pytest_clawperator.plugin.phones import PHONES_HINT, end_of_phones
from pytest_clawperator.plugin.run import call_hook, events_of, run_id, wrong_result
from pytest_clawperator.plugin.settings import Settings, settings_of
from pytest_clawperator.plugin.stash import DEVICE_HEALTH, EARLY_CONNECTION
from pytest_clawperator.remote.leases import open_all_leases, server_of
from pytest_clawperator.remote.runner import open_remote
from pytest_clawperator.skills.run import DeviceSkills
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
        known[runner] = Health(runner, tell=notice, reconnect=reconnect)
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
    reconnect(server, transport.serial, say=notice)


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
            tell=notice,
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
        await_landing(lease.key, serial=lease.serial, say=partial(events.notice, lease.serial))
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
        config.add_cleanup(client.close)
        if isinstance(client.runner, Pipeline):
            notice = partial(events_of(config).notice, client.serial)
            Health(client.runner, tell=notice).check()  # opens what the first test would have to


def transport_for(config: pytest.Config, lease: Lease) -> Transport:
    """Return the transport to the device of a lease, connected early or now."""
    early = config.stash.get(EARLY_CONNECTION, None)
    if early is not None and early.lease == lease:
        return early.transport
    return transport_of(config, lease)


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
