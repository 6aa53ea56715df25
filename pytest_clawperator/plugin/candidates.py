"""The devices that a run could use: connected ones, simulated phones, devices of other hosts.

The default implementations of the plugin's own hooks stand at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.wording import closest
from pytest_clawperator.devices import inventory
from pytest_clawperator.devices.connection import chosen_package
from pytest_clawperator.devices.health import await_return
from pytest_clawperator.devices.operator import operator_version
from pytest_clawperator.devices.pool import Candidate
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.devices.spec import EVERY, WORDS, DeviceSpec, parse_device_spec
from pytest_clawperator.errors import (
    ClawperatorError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    NoDeviceError,
    TransportError,
)
from pytest_clawperator.execution.postprocess import PROCESSORS, Processor
from pytest_clawperator.plugin.failures import for_pytest
from pytest_clawperator.plugin.phones import SimulatorScenario, start_emulators, start_simulator
from pytest_clawperator.plugin.report_sinks import own_sinks
from pytest_clawperator.plugin.run import events_of
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import WORKER_COUNT
from pytest_clawperator.remote.http import choose_serial, usable_serials
from pytest_clawperator.remote.leases import ServiceApi, open_service
from pytest_clawperator.remote.runner import list_remote
from pytest_clawperator.report.sinks import ReportSink
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.server import ensure_server, locate_server
from pytest_clawperator.transport.wire import AdbServer


@pytest.hookimpl(trylast=True)
def pytest_clawperator_list_devices(config: pytest.Config) -> Sequence[Candidate]:
    """Find the devices of ``--claw-device``; without it, the only connected one."""
    specs = settings_of(config).device
    if not specs and (WORKER_COUNT in config.stash or settings_of(config).matrix):
        specs = (parse_device_spec("auto"),)  # none is named, and several are wanted
    if len(specs) < 2:
        return _distinct(_of_spec(config, specs[0]) if specs else _connected(config, None))
    return _of_several(config, specs)


def _of_several(config: pytest.Config, specs: Sequence[DeviceSpec]) -> list[Candidate]:
    """Return the devices of all usable specs, and show why the others are left out.

    Where too few are left for this run, raise the error of the first that is not usable.
    """
    found: list[Candidate] = []
    errors: list[ClawperatorError] = []
    for spec in specs:
        try:
            found += _of_spec(config, spec)
        except ClawperatorError as error:
            errors.append(error)
    candidates = _distinct(found)
    alone = 1 + settings_of(config).spare_devices
    if errors and len(candidates) < (config.stash.get(WORKER_COUNT, 0) or alone):
        raise errors[0]
    _show_left_out(config, errors)
    return candidates


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return each device once, even if it is reachable in two ways."""
    by_key: dict[str, Candidate] = {}
    for candidate in candidates:
        by_key.setdefault(candidate.info.key, candidate)
    return list(by_key.values())


def _show_left_out(config: pytest.Config, errors: Sequence[ClawperatorError]) -> None:
    for error in errors:
        error.wording = for_pytest
        events_of(config).notice("", f"left out: {error}")


def _of_spec(config: pytest.Config, spec: DeviceSpec) -> list[Candidate]:
    if spec.kind == "sim":
        alone = 1 + settings_of(config).spare_devices
        wanted = spec.phones or spec.count or config.stash.get(WORKER_COUNT, alone)
        server, serials = start_simulator(config, wanted)
        return _read(config, [(server, serial) for serial in serials])
    if spec.kind == "emulator":
        server, serials = start_emulators(config, spec)
        places = [(server, serial) for serial in serials]
        try:
            return _read(config, places)
        except (DeviceUnavailableError, TransportError):
            # adb may lose an emulator for a moment after Android has booted.
            for server, serial in places:
                with closing(AdbTransport(server, serial)) as transport:
                    await_return(transport)
            return _read(config, places)
    return _remote(config, spec) if spec.kind == "url" else _connected(config, spec)


def _remote(config: pytest.Config, spec: DeviceSpec) -> list[Candidate]:
    """Return the device behind a url; without a serial its only one, or for workers all."""
    assert spec.url is not None
    service = open_service(spec.url)
    if service is not None:
        with closing(service):
            return _served(config, spec, service)
    states = list_remote(spec.url)
    return [
        Candidate(info=DeviceInfo(serial=serial, key=f"{spec.url}/{serial}"), url=spec.url)
        for serial in _wanted_serials(config, spec, states)
    ]


def _served(config: pytest.Config, spec: DeviceSpec, service: ServiceApi) -> list[Candidate]:
    """Return the devices of our own service, which describes them; show which are left out."""
    devices = {device.serial: device for device in service.devices()}
    states = {serial: device.state for serial, device in devices.items()}
    chosen = [devices[serial] for serial in _wanted_serials(config, spec, states)]
    for device in chosen:
        if device.info is None:
            why = device.problem or "it does not say what it is"
            events_of(config).notice(device.serial, f"left out: {why}")
    usable = [device.info for device in chosen if device.info is not None]
    if not usable:
        raise NoDeviceError(
            f"no device of the service at {service.url} can be used",
            hint="See the page of the service, or run `clawperator-py doctor` on its machine.",
        )
    return [Candidate(info=info, adb=service.url) for info in usable]


def _wanted_serials(
    config: pytest.Config, spec: DeviceSpec, states: Mapping[str, str]
) -> list[str]:
    """Return the serials of a spec: one, or all for workers and ``*``."""
    assert spec.url is not None
    serials = usable_serials(states)
    is_every = spec.serial == EVERY or (spec.serial is None and WORKER_COUNT in config.stash)
    if is_every and serials:
        return serials
    named = None if spec.serial == EVERY else spec.serial
    return [choose_serial(states, wanted=named, url=spec.url)]


def _connected(config: pytest.Config, spec: DeviceSpec | None) -> list[Candidate]:
    """Return the device of a serial, all that are usable, or without a spec the only one."""
    servers = [locate_server(address) for address in settings_of(config).adb or (None,)]
    for server in servers:
        ensure_server(server, notify=partial(events_of(config).notice, ""))
    devices = [device for server in servers for device in inventory.list_devices(server)]
    if spec is not None and spec.serial is None:
        return _all_usable(config, devices)
    try:
        chosen = inventory.choose_device(devices, spec.serial if spec else None)
    except DeviceNotFoundError as error:
        word, colon, rest = (spec.serial or "" if spec else "").partition(":")
        if word.isalpha() and (near := closest(word, WORDS)):
            error.add_hint(f"Did you mean --claw-device {near}{colon}{rest}?")
        raise
    return _read(config, [(chosen.server, chosen.serial)])


def _all_usable(
    config: pytest.Config, devices: Sequence[inventory.ConnectedDevice]
) -> list[Candidate]:
    """Return the devices that answer, and show why the others are left out."""
    usable = [device for device in devices if device.state == inventory.USABLE]
    if not usable:
        raise inventory.none_usable(devices)
    read = _read_each(config, [(device.server, device.serial) for device in usable])
    candidates = [one for one in read if not isinstance(one, ClawperatorError)]
    errors = [one for one in read if isinstance(one, ClawperatorError)]
    if not candidates:
        raise errors[0]
    for device in devices:
        if device.state != inventory.USABLE:
            events_of(config).notice("", inventory.left_out(device))
    _show_left_out(config, errors)
    return candidates


def _read(config: pytest.Config, places: Sequence[tuple[AdbServer, str]]) -> list[Candidate]:
    """Read the properties of devices; raise the error of one that does not answer."""
    candidates = []
    for found in _read_each(config, places):
        if isinstance(found, ClawperatorError):
            raise found
        candidates.append(found)
    return candidates


def _read_each(
    config: pytest.Config, places: Sequence[tuple[AdbServer, str]]
) -> list[Candidate | ClawperatorError]:
    """Read the properties of devices in parallel; return an error for one that does not answer."""
    settings = settings_of(config)
    package = chosen_package(settings.operator_package)

    def read(place: tuple[AdbServer, str]) -> Candidate | ClawperatorError:
        server, serial = place
        try:
            with closing(AdbTransport(server, serial, display=settings.display)) as transport:
                info = inventory.read_device(transport, server=server)
                version = operator_version(transport, package)
        except ClawperatorError as error:
            return error
        info = replace(info, operator_package=package, operator_version=version)
        return Candidate(info=info, adb=str(server))

    with ThreadPoolExecutor(max_workers=len(places)) as threads:
        return list(threads.map(read, places))


@pytest.hookimpl(trylast=True)
def pytest_clawperator_select_device(
    candidates: Sequence[Candidate], requirements: Requirements
) -> Candidate | None:
    """Choose the first that meets the requirements."""
    return next((one for one in candidates if not requirements.unmet(one.info)), None)


@pytest.hookimpl(trylast=True)
def pytest_clawperator_simulator_scenario() -> SimulatorScenario:
    """Start the simulator's default phones."""
    return SimulatorScenario()


@pytest.hookimpl(trylast=True)
def pytest_clawperator_processors() -> Sequence[Processor]:
    """Return the steps that every result needs."""
    return PROCESSORS


@pytest.hookimpl(trylast=True)
def pytest_clawperator_report_sinks(config: pytest.Config) -> Sequence[ReportSink]:
    """Return the sinks of the reports that the options ask for."""
    return own_sinks(config)
