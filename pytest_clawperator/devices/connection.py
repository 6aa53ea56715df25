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
    await_boot,
    awaken_operator,
    check_ready,
    judge,
)
from pytest_clawperator.devices.inventory import choose_device, list_devices, read_device
from pytest_clawperator.devices.operator import (
    PACKAGE_VARIABLE,
    find_operator,
    grant_operator,
    report_grants,
    set_up_operator,
)
from pytest_clawperator.errors import ConfigurationError, ErrorCode, OperatorNotReadyError
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

#: Reads the state of a device and of this package on it; raises what keeps it from working.
Check = Callable[[Transport, str], Readiness]

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
    ensure_server(server, notify=notifier(serial or "", observers))
    chosen = choose_device(list_devices(server), serial)
    notice = notifier(chosen.serial, observers)
    return AdbTransport(server, chosen.serial, on_notice=notice, display=display)


def open_runner(
    transport: Transport,
    *,
    server: AdbServer,
    operator_package: str | None = None,
    operator_apk: str | Path | None = None,
    grant: bool = False,
    repair: bool = False,
    observers: Sequence[Observer] = (),
    processors: Sequence[Processor] = PROCESSORS,
    clearance: Clearance = always_clear,
    info: DeviceInfo | None = None,
    first_check: Check = check_ready,
    keep: bool = False,
) -> tuple[Pipeline, Device]:
    """Make the Operator ready and return what runs executions on it, and the device.

    With ``repair``, a device that is still starting is waited for, and an Operator whose service is
    switched off gets what ``grant`` grants. ``info`` are the device's properties, if they were read
    before. ``first_check`` judges the device once; later checks are strict. If connecting fails,
    the transport is closed, unless ``keep``.
    """
    with ExitStack() as opened:
        if not keep:
            opened.callback(transport.close)
        notify = notifier(transport.serial, observers)
        if repair:
            found = await_boot(transport, chosen_package(operator_package), notify=notify)
            if operator_apk is None:
                first_check = partial(_judge_known, found)
                if _is_switched_off(first_check, transport, operator_package, notify):
                    grant, first_check = True, check_ready
        package = _find_operator(
            transport,
            wanted_package(operator_package),
            apk=operator_apk,
            grant=grant,
            notify=notify,
        )
        info = info or read_device(transport, server=server)
        preflight = _Preflight(transport, package, first_check)
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
            awaken_operator(pipeline, notify=notify)
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


def chosen_package(named: str | None = None) -> str:
    """Return the Operator's package: the named one, here or in the environment, or the release."""
    return wanted_package(named) or OPERATOR_PACKAGE


def _judge_known(found: Readiness, transport: Transport, package: str) -> Readiness:
    return judge(found, package, serial=transport.serial)


def _is_switched_off(
    check: Check, transport: Transport, named: str | None, notify: Callable[[str], None]
) -> bool:
    """Return whether the Operator is installed and its service is switched off."""
    try:
        check(transport, chosen_package(named))
    except OperatorNotReadyError as error:
        if error.code != ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING:
            raise
        notify(f"{error.message}; it is switched on")
        return True
    return False


def _find_operator(
    transport: Transport,
    package: str | None,
    *,
    apk: str | Path | None,
    grant: bool,
    notify: Callable[[str], None],
) -> str:
    """Return the package of the Operator; install it and grant what it needs if asked to."""
    if apk is not None:
        return set_up_operator(transport, apk, package, notify=notify).package
    wanted = package or OPERATOR_PACKAGE
    if grant:
        report_grants(grant_operator(transport, find_operator(transport, wanted)), notify)
    return wanted


class _Preflight:
    """Checks whether the Operator can work, and keeps what was found."""

    def __init__(self, transport: Transport, package: str, first_check: Check) -> None:
        self._transport = transport
        self._package = package
        self._check = first_check
        self.found = Readiness()

    def __call__(self) -> Processes | None:
        check, self._check = self._check, check_ready
        self.found = check(self._transport, self._package)
        return self.found.processes


def notifier(serial: str, observers: Sequence[Observer]) -> Callable[[str], None]:
    """Return the function that reports something about a device to the log and observers."""
    return partial(_notify, serial=serial, observers=tuple(observers))


def _notify(message: str, *, serial: str, observers: tuple[Observer, ...]) -> None:
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
