"""What the plugin's hooks do where nobody else answers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.plugin.options import settings_of
from pytest_clawperator.plugin.stash import WORKERS

if TYPE_CHECKING:
    from pytest_clawperator.devices.inventory import ConnectedDevice
    from pytest_clawperator.devices.pool import Candidate
    from pytest_clawperator.devices.requirements import Requirements
    from pytest_clawperator.devices.spec import DeviceSpec
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.execution.postprocess import Processor
    from pytest_clawperator.plugin.leasing.simulated_phones import SimulatorScenario
    from pytest_clawperator.transport.wire import AdbServer


@pytest.hookimpl(trylast=True)
def pytest_clawperator_list_devices(config: pytest.Config) -> Sequence[Candidate]:
    """Look for the devices of ``--claw-device``; without it, for the only one there is."""
    from pytest_clawperator.devices.spec import parse_device_spec

    specs = settings_of(config).device
    if not specs and (WORKERS in config.stash or settings_of(config).matrix):
        specs = (parse_device_spec("auto"),)  # nobody said which, and several are wanted
    found = [one for spec in specs for one in _of_spec(config, spec)]
    by_key: dict[str, Candidate] = {}
    for candidate in found if specs else _connected(config, None):
        by_key.setdefault(candidate.info.key, candidate)  # a phone seen twice is one device
    return list(by_key.values())


@pytest.hookimpl(trylast=True)
def pytest_clawperator_select_device(
    candidates: Sequence[Candidate], requirements: Requirements
) -> Candidate | None:
    """Take the first that will do."""
    return next((one for one in candidates if not requirements.unmet(one.info)), None)


@pytest.hookimpl(trylast=True)
def pytest_clawperator_simulator_scenario() -> SimulatorScenario:
    """Let the phones be as the simulator has them."""
    from pytest_clawperator.plugin.leasing.simulated_phones import SimulatorScenario

    return SimulatorScenario()


@pytest.hookimpl(trylast=True)
def pytest_clawperator_processors() -> Sequence[Processor]:
    """Give the steps that every result needs."""
    from pytest_clawperator.execution.postprocess import PROCESSORS

    return PROCESSORS


def _of_spec(config: pytest.Config, spec: DeviceSpec) -> list[Candidate]:
    if spec.kind == "sim":
        alone = 1 + settings_of(config).spare_devices
        return _simulated(config, spec.count or config.stash.get(WORKERS, alone))
    return _remote(config, spec) if spec.kind == "url" else _connected(config, spec)


def _simulated(config: pytest.Config, phones: int) -> list[Candidate]:
    from pytest_clawperator.plugin.leasing.simulated_phones import start_simulator
    from pytest_clawperator.transport.wire import AdbServer

    simulator = start_simulator(config, phones)
    server = AdbServer(simulator.adb_host, simulator.adb_port)
    return _read(config, [(server, serial) for serial in simulator.serials])


def _remote(config: pytest.Config, spec: DeviceSpec) -> list[Candidate]:
    """Give the device behind a url; without a serial its only one, or for workers all."""
    from pytest_clawperator.contracts.device import DeviceInfo
    from pytest_clawperator.devices.pool import Candidate
    from pytest_clawperator.execution.remote.answers import choose_serial, usable_serials
    from pytest_clawperator.execution.remote.runner import list_remote

    assert spec.url is not None
    states = list_remote(spec.url)
    serials = usable_serials(states)
    if spec.serial is not None or WORKERS not in config.stash or not serials:
        serials = [choose_serial(states, wanted=spec.serial, url=spec.url)]
    return [
        Candidate(info=DeviceInfo(serial=serial, key=f"{spec.url}/{serial}"), url=spec.url)
        for serial in serials
    ]


def _connected(config: pytest.Config, spec: DeviceSpec | None) -> list[Candidate]:
    """Give the device of a serial, all that are usable, or without a wish the only one."""
    from pytest_clawperator.devices.inventory import choose_device

    devices = _devices(config)
    if spec is not None and spec.serial is None:
        return _all_usable(config, devices)
    chosen = choose_device(devices, spec.serial if spec else None)
    return _read(config, [(chosen.server, chosen.serial)])


def _all_usable(config: pytest.Config, devices: Sequence[ConnectedDevice]) -> list[Candidate]:
    """Give the devices that answer, and say why the others are left out."""
    from pytest_clawperator.devices.inventory import USABLE, left_out, none_usable
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.plugin.reporting.events import events_of

    usable = [device for device in devices if device.state == USABLE]
    if not usable:
        raise none_usable(devices)
    unusable = [device for device in devices if device.state != USABLE]
    told = [left_out(device) for device in unusable]
    read = _read_or_tell(config, [(device.server, device.serial) for device in usable])
    candidates = [one for one in read if not isinstance(one, ClawperatorError)]
    errors = [one for one in read if isinstance(one, ClawperatorError)]
    if not candidates:
        raise errors[0]
    for text in [*told, *(f"left out: {error}" for error in errors)]:
        events_of(config).notice("", text)
    return candidates


def _devices(config: pytest.Config) -> list[ConnectedDevice]:
    """List what is connected to the adb servers, of which one is started if need be."""
    from pytest_clawperator.devices.inventory import list_devices
    from pytest_clawperator.plugin.reporting.events import events_of
    from pytest_clawperator.transport.server import ensure_server, locate_server

    servers = [locate_server(address) for address in settings_of(config).adb or (None,)]
    for server in servers:
        ensure_server(server, say=partial(events_of(config).notice, ""))
    return [device for server in servers for device in list_devices(server)]


def _read(config: pytest.Config, places: Sequence[tuple[AdbServer, str]]) -> list[Candidate]:
    """Ask devices what they are; raise what one of them has against it."""
    from pytest_clawperator.errors import ClawperatorError

    candidates = []
    for found in _read_or_tell(config, places):
        if isinstance(found, ClawperatorError):
            raise found
        candidates.append(found)
    return candidates


def _read_or_tell(
    config: pytest.Config, places: Sequence[tuple[AdbServer, str]]
) -> list[Candidate | ClawperatorError]:
    """Ask devices what they are, all at once; give the error of one that does not tell."""
    from concurrent.futures import ThreadPoolExecutor

    from pytest_clawperator.errors import ClawperatorError

    package = settings_of(config).operator_package

    def read(place: tuple[AdbServer, str]) -> Candidate | ClawperatorError:
        try:
            return _candidate(*place, package=package)
        except ClawperatorError as error:
            return error

    with ThreadPoolExecutor(max_workers=len(places)) as threads:
        return list(threads.map(read, places))


def _candidate(server: AdbServer, serial: str, *, package: str | None) -> Candidate:
    from pytest_clawperator.contracts.device import OPERATOR_PACKAGE
    from pytest_clawperator.devices.connection import wanted_package
    from pytest_clawperator.devices.inventory import read_device
    from pytest_clawperator.devices.operator import operator_version
    from pytest_clawperator.devices.pool import Candidate
    from pytest_clawperator.transport.adb import AdbTransport

    transport = AdbTransport(server, serial)
    try:
        info = read_device(transport, server=server)
        package = wanted_package(package) or OPERATOR_PACKAGE
        version = operator_version(transport, package)
    finally:
        transport.close()
    info = replace(info, operator_package=package, operator_version=version)
    return Candidate(info=info, adb=str(server))
