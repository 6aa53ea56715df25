"""How to connect: to a device, to its Operator, and with a client.

The recipe has three steps, which scripts, the command line, the service, the plugin and the
runner for other hosts share: ``open_transport``, ``open_runner``, ``open_client``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_clawperator.client.device import Device
from pytest_clawperator.client.device_commands import package_name
from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE, DeviceInfo
from pytest_clawperator.contracts.events import Observer
from pytest_clawperator.devices.health import (
    Readiness,
    awaken_operator,
    check_ready,
    judge,
)
from pytest_clawperator.devices.inventory import choose_device, list_devices, read_device
from pytest_clawperator.devices.operator import (
    PACKAGE_VARIABLE,
    find_operator,
    grant_operator,
    set_up_operator,
    tell_grants,
)
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution.flight import Clearance, Flight, always_clear
from pytest_clawperator.execution.pipeline import Observers, Pipeline, Runner
from pytest_clawperator.execution.postprocess import PROCESSORS, Processor
from pytest_clawperator.execution.processes import Processes
from pytest_clawperator.text import visible
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.server import ensure_server, locate_server
from pytest_clawperator.transport.wire import AdbServer

if TYPE_CHECKING:
    from pytest_clawperator.client.client import Clawperator, Skills
    from pytest_clawperator.client.perform import Matchers

_log = logging.getLogger("pytest_clawperator")


def open_client(
    runner: Runner,
    device: Device,
    *,
    timeout: float = 5.0,
    matchers: Matchers = "strict",
    skills: Callable[[], Skills] | None = None,
) -> Clawperator:
    """Return the client; if it cannot be made, the runner is closed."""
    # The command line runs executions without a client, and must start quickly.
    from pytest_clawperator.client.client import Clawperator

    with ExitStack() as opened:
        opened.callback(runner.close)
        about = {} if skills is None else {"skills": skills}
        client = Clawperator(runner, device=device, timeout=timeout, matchers=matchers, **about)
        opened.pop_all()
    return client


def open_transport(
    serial: str | None = None,
    *,
    adb: str | None = None,
    display: int | None = None,
    observers: Sequence[Observer] = (),
) -> AdbTransport:
    """Choose a device and open its transport; nothing is sent to it yet."""
    server = locate_server(adb)
    ensure_server(server, say=teller(serial or "", observers))
    chosen = choose_device(list_devices(server), serial)
    notice = teller(chosen.serial, observers)
    return AdbTransport(server, chosen.serial, on_notice=notice, display=display)


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
    info: DeviceInfo | None = None,
    known: Readiness | None = None,
    keep: bool = False,
) -> tuple[Pipeline, Device]:
    """Make the Operator ready and return what runs executions on it, and the device.

    If that fails, the transport is closed, unless ``keep``. ``info`` and ``known`` are what the
    device is and its state, if they were read just before.
    """
    with ExitStack() as opened:
        if not keep:
            opened.callback(transport.close)
        tell = teller(transport.serial, observers)
        named = wanted_package(operator_package)
        package = _find_operator(transport, named, apk=operator_apk, grant=grant, tell=tell)
        info = info or read_device(transport, server=server)
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
    """Return the package of the Operator that is named, here or in the environment."""
    package = named or os.environ.get(PACKAGE_VARIABLE) or None
    return package if package is None else package_name(package)


def _find_operator(
    transport: Transport,
    package: str | None,
    *,
    apk: str | Path | None,
    grant: bool,
    tell: Callable[[str], None],
) -> str:
    """Return the package of the Operator; install it and grant what it needs if asked to."""
    if apk is not None:
        return set_up_operator(transport, apk, package, tell=tell).package
    wanted = package or OPERATOR_PACKAGE
    if grant:
        tell_grants(grant_operator(transport, find_operator(transport, wanted)), tell)
    return wanted


class _Preflight:
    """Checks whether the Operator can work, and keeps what was found."""

    def __init__(self, transport: Transport, package: str, known: Readiness | None) -> None:
        self._transport = transport
        self._package = package
        self._known = known
        self.found = Readiness()

    def __call__(self) -> Processes | None:
        known, self._known = self._known, None
        if known is None:
            self.found = check_ready(self._transport, self._package)
        else:
            self.found = judge(known, self._package, serial=self._transport.serial)
        return self.found.processes


def teller(serial: str, observers: Sequence[Observer]) -> Callable[[str], None]:
    """Return the function that reports something about a device to the log and observers."""
    return partial(_tell, serial=serial, observers=tuple(observers))


def _tell(message: str, *, serial: str, observers: tuple[Observer, ...]) -> None:
    _log.warning("%s%s", f"[{serial}] " if serial else "", visible(message))
    Observers(observers, serial=serial).notice(message)


def all_observers(observe: Observer | Iterable[Observer]) -> tuple[Observer, ...]:
    """Return the observers, given as one or several; raise if one cannot be called."""
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
    """Raise if an argument was given that needs adb."""
    # A display may have the number 0, which is equal to False.
    given = [f"{name}=" for name, value in others.items() if value or type(value) is int]
    if given:
        raise ConfigurationError(
            f"{', '.join(given)} cannot be used together with url=",
            hint="Through a url the other host's adb and Operator are used: set them up there.",
        )
