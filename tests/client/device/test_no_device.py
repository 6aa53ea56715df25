"""A device that cannot be reached by adb says so at each use."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.device.no_device import NoDevice
from pytest_clawperator.errors import ConfigurationError, ErrorCode


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda device: device.shell("id"), "shell"),
        (lambda device: device.install("a.apk"), "install"),
        (lambda device: device.current_package(), "current_package"),
        (lambda device: device.orientation, "orientation"),
        (lambda device: setattr(device, "airplane_mode", True), "airplane_mode"),
    ],
)
def test_each_use_without_adb_is_refused_by_name(use: Any, name: str) -> None:
    """Where there is no shell, whatever needs one is refused by its name."""
    device = NoDevice("PH1", "http://lab:3000 runs executions and nothing else")

    with pytest.raises(ConfigurationError) as caught:
        use(device)

    assert f"device.{name} is not possible here: http://lab:3000" in str(caught.value)
    assert caught.value.code is ErrorCode.DEVICE_SHELL_UNAVAILABLE


def test_no_device_refuses_everything() -> None:
    """No method of a device is forgotten; its name and putting back are harmless."""
    device = NoDevice("PH1", "far away")
    harmless = {"info", "serial", "restore", "restoring"}
    names = {name for name in vars(Device) if not name.startswith("_")} - harmless

    with device.restoring():
        device.restore()

    assert device.serial == device.info.serial == "PH1"
    assert names <= vars(NoDevice).keys()
