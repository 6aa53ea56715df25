"""The check of which device is meant, and whether adb can use it."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clawperator.devices.doctor.report import (
    ByHand,
    Finding,
    Fix,
    Guidance,
    Reconnect,
    Step,
    failed,
    passed,
    warned,
)
from pytest_clawperator.devices.inventory import USABLE, ConnectedDevice, trouble_of
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.remedies import Remedy, RemedyKind

_ID = "device.discovery"
_ACCEPT = Guidance(
    "the dialog 'Allow USB debugging?'",
    ("Unlock the device and accept the dialog 'Allow USB debugging?'.",),
)


def discover(
    devices: Sequence[ConnectedDevice], serial: str | None = None
) -> tuple[Finding, ConnectedDevice | None]:
    """Return the device of this serial, or the only usable one, and what was found of it."""
    if serial is not None:
        named = next((device for device in devices if device.serial == serial), None)
        return (_absent(devices, serial), None) if named is None else judge_state(named)
    usable = [device for device in devices if device.state == USABLE]
    if len(usable) > 1:
        return _several(usable), None
    if not devices:
        return _none(), None
    return judge_state(usable[0] if usable else devices[0])


def judge_state(device: ConnectedDevice) -> tuple[Finding, ConnectedDevice | None]:
    """Return the device if adb can use it, and what was found of it."""
    if device.state == USABLE:
        return passed(_ID, "Connected, and adb can use it.", serial=device.serial), device
    code, hint = trouble_of(device.state)
    offline: tuple[Step, ...] = (Reconnect(), ByHand(hint))
    finding = failed(
        _ID,
        code,
        f"The device is {device.state or 'in no known state'}.",
        fix=None if code is ErrorCode.DEVICE_UNAUTHORIZED else Fix("Reconnect it", offline),
        guidance=_ACCEPT if code is ErrorCode.DEVICE_UNAUTHORIZED else None,
        serial=device.serial,
        state=device.state,
    )
    return finding, None


def _several(usable: Sequence[ConnectedDevice]) -> Finding:
    serials = [device.serial for device in usable]
    choose = Remedy(RemedyKind.CHOOSE_DEVICE, serials[0], count=len(serials))
    return warned(
        _ID,
        ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED,
        f"{len(serials)} devices are connected, and none was chosen.",
        fix=Fix("Choose a device", (ByHand(choose),)),
        devices=serials,
    )


def _none() -> Finding:
    return failed(
        _ID,
        ErrorCode.NO_DEVICES,
        "No device is connected.",
        fix=Fix(
            "Connect a device",
            (
                ByHand("Plug one in with USB debugging on: `adb devices` must call it `device`."),
                ByHand(Remedy(RemedyKind.USE_SIMULATOR)),
            ),
        ),
    )


def _absent(devices: Sequence[ConnectedDevice], serial: str) -> Finding:
    there = ", ".join(map(str, devices)) or "nothing"
    return failed(
        _ID,
        ErrorCode.DEVICE_NOT_FOUND,
        f"Device {serial} is not connected.",
        detail=f"Connected: {there}.",
        fix=Fix(
            "Connect the device",
            (ByHand((Remedy(RemedyKind.CORRECT_SERIAL), ", or connect the device.")),),
        ),
        connected=[device.serial for device in devices],
    )
