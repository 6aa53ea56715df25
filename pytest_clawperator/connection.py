"""The steps of connecting, one by one: to a device, to its Operator, to a client."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device.commands import package_name
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.device.no_device import NoDevice
from pytest_clawperator.contracts.device import OPERATOR_PACKAGE
from pytest_clawperator.contracts.events import Observer
from pytest_clawperator.devices.health import awaken_operator
from pytest_clawperator.devices.inventory import (
    SERIAL_VARIABLE,
    choose_device,
    list_devices,
    read_device,
)
from pytest_clawperator.devices.operator import (
    find_operator,
    grant_operator,
    setup_operator,
)
from pytest_clawperator.devices.readiness import Readiness, check_ready, judge
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution.flight import Clearance, Flight, always_clear
from pytest_clawperator.execution.observing import Observers
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.execution.postprocess import PROCESSORS, Processor
from pytest_clawperator.execution.remote.runner import RemoteRunner
from pytest_clawperator.execution.runner import Runner
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.server import ensure_server, locate_server
from pytest_clawperator.transport.wire import AdbServer

PACKAGE_VARIABLE = "CLAWPERATOR_OPERATOR_PACKAGE"

_log = logging.getLogger("pytest_clawperator")


def open_client(
    runner: Runner, device: Device, *, timeout: float = 5.0, strict_matchers: bool = False
) -> Clawperator:
    """Make the client; if that fails, the runner is closed."""
    with ExitStack() as opened:
        opened.callback(runner.close)
        client = Clawperator(
            runner, device=device, timeout=timeout, strict_matchers=strict_matchers
        )
        opened.pop_all()
    return client


def open_remote(
    url: str,
    *,
    serial: str | None = None,
    operator_package: str | None = None,
    observers: Sequence[Observer] = (),
    clearance: Clearance = always_clear,
) -> tuple[Runner, Device]:
    """Reach a device through a host that runs ``clawperator serve``."""
    runner = RemoteRunner(
        url,
        serial=serial or os.environ.get(SERIAL_VARIABLE) or None,
        operator_package=wanted_package(operator_package),
        observers=observers,
        clearance=clearance,
    )
    return runner, NoDevice(runner.serial, f"{url} runs executions and nothing else")


def open_transport(
    serial: str | None = None, *, adb: str | None = None, observers: Sequence[Observer] = ()
) -> AdbTransport:
    """Choose a device and reach it; nothing is asked of it yet."""
    server = locate_server(adb)
    ensure_server(server, say=_teller(serial or "", observers))
    chosen = choose_device(list_devices(server), serial)
    return AdbTransport(server, chosen.serial, on_notice=_teller(chosen.serial, observers))


def open_runner(
    transport: Transport,
    *,
    server: AdbServer,
    operator_package: str | None = None,
    operator_apk: str | Path | None = None,
    grant: bool = False,
    observers: Sequence[Observer] = (),
    processors: Sequence[Processor] = PROCESSORS,
    clearance: Clearance = always_clear,
    known: Readiness | None = None,
    keep: bool = False,
) -> tuple[Pipeline, Device]:
    """See that the Operator works on the device; if not, the transport is closed unless kept.

    ``known`` is what the device told just now, if it was asked.
    """
    with ExitStack() as opened:
        if not keep:
            opened.callback(transport.close)
        tell = _teller(transport.serial, observers)
        package = _find_operator(
            transport, wanted_package(operator_package), apk=operator_apk, grant=grant
        )
        info = read_device(transport, server=server)
        preflight = _Preflight(transport, package, known)
        pipeline = Pipeline(
            transport,
            operator_package=package,
            flight=Flight(info.key),
            preflight=preflight,
            clearance=clearance,
            observers=observers,
            processors=processors,
        )
        if operator_apk is not None or grant:
            awaken_operator(pipeline, tell=tell)
        pipeline.check()
        opened.pop_all()
    version = preflight.found.version
    return pipeline, Device(
        transport, replace(info, operator_package=package, operator_version=version)
    )


def wanted_package(named: str | None = None) -> str | None:
    """Give the package of the Operator that is named, here or in the environment."""
    package = named or os.environ.get(PACKAGE_VARIABLE) or None
    return package if package is None else package_name(package)


def _find_operator(
    transport: Transport, package: str | None, *, apk: str | Path | None, grant: bool
) -> str:
    """Give the package of the Operator, which is installed and allowed to work if so asked."""
    if apk is not None:
        return setup_operator(transport, apk, package)
    wanted = package or OPERATOR_PACKAGE
    if grant:
        grant_operator(transport, find_operator(transport, wanted))
    return wanted


class _Preflight:
    """Looks whether the Operator can work, and keeps what was found."""

    def __init__(self, transport: Transport, package: str, known: Readiness | None) -> None:
        self._transport = transport
        self._package = package
        self._known = known
        self.found = Readiness()

    def __call__(self) -> None:
        known, self._known = self._known, None
        if known is None:
            self.found = check_ready(self._transport, self._package)
        else:
            self.found = judge(known, self._package, serial=self._transport.serial)


def _teller(serial: str, observers: Sequence[Observer]) -> Callable[[str], None]:
    return partial(_tell, serial=serial, observers=tuple(observers))


def _tell(message: str, *, serial: str, observers: tuple[Observer, ...]) -> None:
    _log.warning("%s%s", f"[{serial}] " if serial else "", message)
    Observers(observers, serial=serial).notice(message)


def all_observers(observe: Observer | Iterable[Observer]) -> tuple[Observer, ...]:
    """Give those who are to be told, one or several, all of whom can be called."""
    given = (observe,) if callable(observe) or not isinstance(observe, Iterable) else observe
    observers = tuple(given)
    for each in observers:
        if not callable(each):
            raise ConfigurationError(
                f"observe= was given {each!r}, which cannot be called",
                hint="Give a function of one event, such as events.append, or several in a list.",
            )
    return observers


def refuse_with_url(**others: object) -> None:
    """Refuse what only goes with adb."""
    given = [f"{name}=" for name, value in others.items() if value]
    if given:
        raise ConfigurationError(
            f"{', '.join(given)} cannot be used together with url=",
            hint="Through a url the other host's adb and Operator are used: set them up there.",
        )
