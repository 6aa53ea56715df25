"""Opening a device of another host: all of it through our service, else executions only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from pytest_clawperator.client.device import Device, NoDevice
from pytest_clawperator.contracts.events import Observer
from pytest_clawperator.devices.connection import (
    open_runner,
    refuse_with_url,
    teller,
    wanted_package,
)
from pytest_clawperator.devices.inventory import SERIAL_VARIABLE
from pytest_clawperator.devices.service.api import ServiceApi, locate_service, open_service
from pytest_clawperator.devices.service.leases import lease_served
from pytest_clawperator.devices.service.transport import LeasedTransport
from pytest_clawperator.execution.flight import Clearance, always_clear
from pytest_clawperator.execution.pipeline import Pipeline, Runner
from pytest_clawperator.execution.remote.answers import choose_serial
from pytest_clawperator.execution.remote.runner import RemoteRunner


def open_remote(
    url: str,
    *,
    serial: str | None = None,
    operator_package: str | None = None,
    operator_apk: str | Path | None = None,
    grant: bool = False,
    observers: Sequence[Observer] = (),
    clearance: Clearance = always_clear,
) -> tuple[Runner, Device]:
    """Open a device of another host: by its lease if it runs our service, else executions only."""
    wanted = serial or os.environ.get(SERIAL_VARIABLE) or None
    package = wanted_package(operator_package)
    service = open_service(url)
    if service is not None:
        return _open_served(
            service, wanted, package, operator_apk=operator_apk, grant=grant, observers=observers
        )
    refuse_with_url(operator_apk=operator_apk, grant=grant)
    runner = RemoteRunner(
        url,
        serial=wanted,
        operator_package=package,
        observers=observers,
        clearance=clearance,
    )
    return runner, NoDevice(runner.serial, f"{url} runs executions and nothing else")


def _open_served(
    service: ServiceApi,
    serial: str | None,
    package: str | None,
    *,
    operator_apk: str | Path | None,
    grant: bool,
    observers: Sequence[Observer],
) -> tuple[Pipeline, Device]:
    """Lease a device of a service, and open it as over adb; closing it releases it."""
    with ExitStack() as opened:
        opened.callback(service.close)
        states = {device.serial: device.state for device in service.devices()}
        chosen = choose_serial(states, wanted=serial, url=service.url)
        lease = lease_served(service.url, chosen)
        opened.callback(lease.release)
        server = locate_service(service.url, lease=lease.lease)
        transport = LeasedTransport(
            server, chosen, on_notice=teller(chosen, observers), release=lease.release
        )
        opened.callback(transport.close)
        runner = open_runner(
            transport,
            server=server,
            operator_package=package,
            operator_apk=operator_apk,
            grant=grant,
            observers=observers,
            clearance=lease.clear,
        )
        opened.pop_all()
        service.close()
    return runner
