"""From a lease to a client that works, with everybody told who wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.contracts.device import OPERATOR_PACKAGE, DeviceInfo
from pytest_clawperator.contracts.events import Event, ExecutionFinished
from pytest_clawperator.devices.connection import (
    open_client,
    open_remote,
    open_runner,
    wanted_package,
)
from pytest_clawperator.devices.health import Health, await_boot
from pytest_clawperator.devices.lease import await_landing, open_leases
from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.devices.readiness import Readiness, judge
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceUnavailableError,
    ErrorCode,
    OperatorNotReadyError,
)
from pytest_clawperator.execution.flight import Clearance, always_clear
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.execution.postprocess import Processor
from pytest_clawperator.execution.runner import Runner
from pytest_clawperator.plugin.evidence.on_failure import run_id
from pytest_clawperator.plugin.leasing.hook_answers import ask, wrong_answer
from pytest_clawperator.plugin.options import settings_of
from pytest_clawperator.plugin.reporting.events import events_of
from pytest_clawperator.plugin.reporting.infrastructure import PHONES_HINT, end_of_phones
from pytest_clawperator.plugin.settings import Settings
from pytest_clawperator.plugin.stash import HEALTH
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.reconnect import reconnect
from pytest_clawperator.transport.server import locate_server


def transport_of(config: pytest.Config, lease: Lease) -> AdbTransport:
    """Reach the device of a lease; nothing is asked of it yet."""
    if lease.adb is None:
        raise ConfigurationError(
            f"the device behind {lease.url} cannot be reached directly",
            code=ErrorCode.DEVICE_SHELL_UNAVAILABLE,
            serial=lease.serial,
            hint="clawperator_transport needs a device behind an adb server: --claw-device SERIAL.",
        )
    tell = partial(events_of(config).notice, lease.serial)
    return AdbTransport(locate_server(lease.adb), lease.serial, on_notice=tell)


def client_of(
    config: pytest.Config,
    settings: Settings,
    lease: Lease,
    transport: Transport | None,
    *,
    keep: bool = False,
) -> Clawperator:
    """Connect the client: over the transport, or without one through the url of the lease.

    Should that fail, the transport is closed, unless others use it and it is to be kept.
    """
    runner: Runner
    events = events_of(config)
    if transport is not None:
        runner, device = _over_adb(config, settings, lease, transport, keep=keep)
    else:
        assert lease.url is not None
        runner, device = open_remote(
            lease.url,
            serial=lease.serial,
            operator_package=settings.operator_package,
            observers=[events],
            clearance=_clearance(config, lease),
        )
    client = open_client(runner, device, timeout=settings.timeout)
    events.add(_Watcher(config, device.info))
    return client


def ensure_health(config: pytest.Config, client: Clawperator) -> None:
    """See that the device can take a test; behind a url its host sees to that."""
    _require_phones(config, client.serial, in_trouble=False)
    runner = client.runner
    if not isinstance(runner, Pipeline):
        return
    looked_after = config.stash.setdefault(HEALTH, {})
    if runner not in looked_after:
        tell = partial(events_of(config).notice, client.serial)
        looked_after[runner] = Health(
            runner, tell=tell, reconnect=partial(_reconnect, config, runner, tell)
        )
    looked_after[runner].ensure()


def _require_phones(config: pytest.Config, serial: str, *, in_trouble: bool) -> None:
    """Give up a simulated phone whose process ended: nothing brings it back."""
    end = end_of_phones(config, serial, in_trouble=in_trouble)
    if end is not None:
        raise DeviceUnavailableError(
            f"the device was put aside, because {end}",
            serial=serial,
            hint=PHONES_HINT,
            details={"put_aside": True},
        )


def _reconnect(config: pytest.Config, runner: Pipeline, tell: Callable[[str], None]) -> None:
    """Have adb connect anew; a server that nobody named is started where it is gone."""
    _require_phones(config, runner.serial, in_trouble=True)
    if not isinstance(runner.transport, AdbTransport):
        return
    server, usual = runner.transport.server, locate_server()
    if not settings_of(config).adb and str(server) == str(usual):
        server = usual
    reconnect(server, runner.serial, say=tell)


def _over_adb(
    config: pytest.Config, settings: Settings, lease: Lease, transport: Transport, *, keep: bool
) -> tuple[Pipeline, Device]:
    """Make the device ready, and say out loud what takes long or was not as it should be."""
    events, apk = events_of(config), settings.operator_apk
    package = wanted_package(settings.operator_package) or OPERATOR_PACKAGE
    tell = partial(events.notice, lease.serial)
    found = await_boot(transport, package, tell=tell)
    if apk is not None:
        events.say(f"[{lease.serial}] installing {apk.name} ...")
    if lease.ticket is not None:
        await_landing(lease.key, serial=lease.serial, say=tell)
    is_off = apk is None and _is_off(found, package, lease.serial, tell)
    return open_runner(
        transport,
        known=None if is_off or apk is not None else found,
        clearance=_clearance(config, lease),
        server=locate_server(lease.adb),
        operator_package=settings.operator_package,
        operator_apk=apk,
        grant=is_off,
        observers=[events],
        processors=_processors(config),
        keep=keep,
    )


def _clearance(config: pytest.Config, lease: Lease) -> Clearance:
    """Ask whether the run still holds the device; of one that a conftest chose nobody asks."""
    if lease.ticket is None:
        return always_clear
    store = open_leases(settings_of(config).lease, run_id=run_id(config))
    config.add_cleanup(store.close)
    return store.borrow(lease.ticket).clear


def _is_off(found: Readiness, package: str, serial: str, tell: Callable[[str], None]) -> bool:
    """Tell whether the Operator is there and its service is switched off."""
    try:
        judge(found, package, serial=serial)
    except OperatorNotReadyError as error:
        if error.code != ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING:
            raise
        tell(f"{error.message}; it is switched on")
        return True
    return False


def _processors(config: pytest.Config) -> list[Processor]:
    """Put together what completes a result: the built-in steps come first."""
    processors: list[Processor] = []
    hook = config.hook.pytest_clawperator_processors
    for answer in reversed(ask(hook)):
        is_list = isinstance(answer, Iterable)
        group: list[Any] = list(answer) if is_list else []
        if not is_list or not all(map(callable, group)):
            raise wrong_answer(hook.name, answer, "a list of functions")
        processors.extend(group)
    return processors


class _Watcher:
    """Calls the hook that wants to know of each execution."""

    def __init__(self, config: pytest.Config, device: DeviceInfo) -> None:
        self._hook = config.hook.pytest_clawperator_execution_finished
        self._device = device

    def __repr__(self) -> str:
        return "pytest_clawperator_execution_finished"

    def __call__(self, event: Event) -> None:
        if isinstance(event, ExecutionFinished):
            self._hook(execution=event.execution, envelope=event.result, device=self._device)
