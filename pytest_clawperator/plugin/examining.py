"""``--claw-doctor``: the chosen devices are examined, and no test is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import pytest

from pytest_clawperator.devices import inventory
from pytest_clawperator.devices.connection import chosen_package
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.devices.spec import DeviceSpec
from pytest_clawperator.doctor import report
from pytest_clawperator.doctor.examine import Examination, discover, examine_all, judge_host
from pytest_clawperator.doctor.facts import gather_host
from pytest_clawperator.errors import ClawperatorError, ErrorCode
from pytest_clawperator.plugin.failures import for_pytest, in_options
from pytest_clawperator.plugin.phones import start_emulators, start_simulator
from pytest_clawperator.plugin.run import events_of, run_id, write_line
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import DOCTORS_VERDICT
from pytest_clawperator.transport.server import locate_server
from pytest_clawperator.transport.wire import AdbServer

_COLOURS = {"pass": "green", "warn": "yellow", "fail": "red"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> bool | None:
    """Examine the devices instead of collecting tests."""
    config = session.config
    if not settings_of(config).doctor:
        return None
    reports = in_options(partial(_examined, config))
    config.stash[DOCTORS_VERDICT] = all(report.ok for report in reports)
    _show(config, reports)
    return True


def set_exit_status(session: pytest.Session) -> None:
    """Exit with what the doctor found: 0 if every device is fit for tests."""
    is_fit = session.config.stash.get(DOCTORS_VERDICT, None)
    if is_fit is not None:
        session.exitstatus = pytest.ExitCode.OK if is_fit else pytest.ExitCode.TESTS_FAILED


@dataclass(frozen=True)
class _Chosen:
    """A device to examine, or the finding that explains why there is none."""

    server: AdbServer | None
    device: inventory.ConnectedDevice | None = None
    finding: report.Finding | None = None
    serial: str | None = None


def _examined(config: pytest.Config) -> list[report.Report]:
    settings = settings_of(config)
    store = open_leases(settings.lease, run_id=run_id(config), notify=events_of(config).show)
    config.add_cleanup(store.close)
    package = chosen_package(settings.operator_package)
    how = Examination(package=package, leases=store)
    host_of = cache(lambda server: judge_host(gather_host(server)))
    chosen: list[_Chosen] = []
    for one in _chosen(config, host_of):
        if one not in chosen:  # a device may be named twice
            chosen.append(one)
    devices = [one.device for one in chosen if one.device is not None]
    examined = iter(examine_all(devices, how))
    return [
        _whole(one, None if one.device is None else next(examined), how, host_of) for one in chosen
    ]


def _whole(
    one: _Chosen,
    own: report.Report | None,
    how: Examination,
    host_of: Callable[[AdbServer], tuple[report.Finding, ...]],
) -> report.Report:
    """Return the report about a device, with the checks of the computer before its own."""
    host = host_of(one.server) if one.server is not None else ()
    found = own.findings if own is not None else (one.finding,) if one.finding else ()
    return report.Report(
        serial=own.serial if own is not None else one.serial,
        about=own.about if own is not None else "",
        operator_package=how.package,
        findings=(*host, *found),
        adb=report.adb_command(one.server) if one.server is not None else "adb",
    )


def _chosen(
    config: pytest.Config, host_of: Callable[[AdbServer], tuple[report.Finding, ...]]
) -> Iterator[_Chosen]:
    """Yield the devices of ``--claw-device``, or of ``ANDROID_SERIAL``, or all there are."""
    settings = settings_of(config)
    servers = [locate_server(address) for address in settings.adb or (None,)]
    for spec in settings.device or (None,):
        if spec is not None and spec.kind in ("sim", "emulator"):
            yield from _started(config, spec)
        elif spec is not None and spec.kind == "url":
            finding = report.warned(
                "device.discovery",
                ErrorCode.DEVICE_SHELL_UNAVAILABLE,
                "A device behind a url can be examined on its own computer only.",
                detail=f"Run `clawperator-py doctor` on the host of {spec.url}.",
            )
            yield _Chosen(None, finding=finding, serial=spec.text)
        else:
            named = os.environ.get(inventory.SERIAL_VARIABLE) or None
            yield from _connected(servers, spec.serial if spec else named, host_of)


def _started(config: pytest.Config, spec: DeviceSpec) -> Iterator[_Chosen]:
    """Start what the run would start, and yield it."""
    if spec.kind == "emulator":
        server, serials = start_emulators(config, spec)
    else:
        server, serials = start_simulator(config, spec.phones or spec.count or 1)
    for serial in serials:
        yield _Chosen(server, inventory.ConnectedDevice(serial, inventory.USABLE, server))


def _connected(
    servers: Sequence[AdbServer],
    serial: str | None,
    host_of: Callable[[AdbServer], tuple[report.Finding, ...]],
) -> Iterator[_Chosen]:
    """Yield the device of a serial, or all that the adb servers have, usable or not."""
    fit = [one for one in servers if all(found.status != "fail" for found in host_of(one))]
    for server in servers:
        if server not in fit:
            yield _Chosen(server)
    listed = [device for server in fit for device in _listed(server)]
    meant = [device for device in listed if serial in (None, device.serial)]
    for device in meant:
        yield _Chosen(device.server, device)
    if fit and not meant:
        yield _Chosen(fit[0], finding=discover(listed, serial)[0], serial=serial)


def _listed(server: AdbServer) -> list[inventory.ConnectedDevice]:
    try:
        return inventory.list_devices(server)
    except ClawperatorError:
        return []


def _show(config: pytest.Config, reports: Sequence[report.Report]) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    style = report.Style(
        width=config.get_terminal_writer().fullwidth,
        # While pytest captures output, only the original stream knows what a terminal can show.
        is_ascii=not report.can_show(getattr(sys.__stdout__, "encoding", None)),
        wording=for_pytest,
    )
    for line in [*report.table(reports, style), report.verdict(reports)]:
        colour = {_COLOURS[line.status]: True} if line.status is not None else {}
        write_line(reporter, line.text, **colour)
