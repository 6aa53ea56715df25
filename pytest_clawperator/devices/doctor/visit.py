"""A whole visit of the doctor: this computer first, then the device that is meant, or all."""

from __future__ import annotations

import os
from dataclasses import replace

from pytest_clawperator.devices.doctor.discovery import discover
from pytest_clawperator.devices.doctor.examination import Examination, examine_all, judge_host
from pytest_clawperator.devices.doctor.host_facts import gather_host
from pytest_clawperator.devices.doctor.report import Finding, Report
from pytest_clawperator.devices.inventory import SERIAL_VARIABLE, ConnectedDevice, list_devices
from pytest_clawperator.transport.wire import AdbServer


def visit(
    server: AdbServer,
    how: Examination,
    *,
    serial: str | None = None,
    every: bool = False,
) -> list[Report]:
    """Examine this computer, and the device of this serial, the only one, or every one."""
    host = judge_host(gather_host(server))
    if any(finding.status == "fail" for finding in host):
        return [_without_device(how, host)]
    devices = list_devices(server)
    if every and devices:
        return examine_all(devices, how, host=host)
    wanted = serial or os.environ.get(SERIAL_VARIABLE) or None
    finding, device = discover(devices, wanted)
    # One that is not usable may be brought back.
    device = device or _only(devices, wanted)
    if device is None:
        return [replace(_without_device(how, (*host, finding)), serial=wanted)]
    return examine_all([device], how, host=host)


def _only(devices: list[ConnectedDevice], wanted: str | None) -> ConnectedDevice | None:
    """Return the device that is meant, whatever its state; None if that is not clear."""
    meant = [device for device in devices if wanted in (None, device.serial)]
    return meant[0] if len(meant) == 1 else None


def _without_device(how: Examination, findings: tuple[Finding, ...]) -> Report:
    return Report(operator_package=how.package, findings=findings)
