"""Which device is meant, and whether adb can use it."""

from __future__ import annotations

import pytest

from pytest_clawperator.devices.inventory import ConnectedDevice
from pytest_clawperator.doctor.examine import discover
from pytest_clawperator.transport.wire import AdbServer

SERVER = AdbServer()


def connected(*states: str) -> list[ConnectedDevice]:
    """Return devices PH1, PH2 ... in these states."""
    return [ConnectedDevice(f"PH{at}", state, SERVER) for at, state in enumerate(states, 1)]


@pytest.mark.parametrize(
    ("states", "serial", "expected"),
    [
        (["device"], None, ("pass", None, "PH1")),
        (["unauthorized", "device"], None, ("pass", None, "PH2")),
        (["device", "device"], "PH2", ("pass", None, "PH2")),
        (["device", "device"], None, ("warn", "MULTIPLE_DEVICES_DEVICE_ID_REQUIRED", None)),
        ([], None, ("fail", "NO_DEVICES", None)),
        (["unauthorized"], None, ("fail", "DEVICE_UNAUTHORIZED", None)),
        (["offline"], None, ("fail", "DEVICE_OFFLINE", None)),
        (["device", "offline"], "PH2", ("fail", "DEVICE_OFFLINE", None)),
        (["no permissions (missing udev rules)"], None, ("fail", "ADB_NO_USB_PERMISSIONS", None)),
        (["device"], "PH9", ("fail", "DEVICE_NOT_FOUND", None)),
    ],
)
def test_the_device_that_is_meant_is_found(
    states: list[str], serial: str | None, expected: tuple[str, str | None, str | None]
) -> None:
    """The named one, or the only usable one; else the finding says why there is none."""
    finding, device = discover(connected(*states), serial)

    code = finding.code and str(finding.code)
    assert (finding.status, code, device and device.serial) == expected
    assert finding.status == "pass" or finding.fix or finding.guidance
