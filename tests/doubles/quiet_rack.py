"""A rack of devices in memory, which count what they are asked."""

from __future__ import annotations

import re
from io import BytesIO

from PIL import Image

from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE, DeviceInfo
from pytest_clawperator.devices.operator import ACCESSIBILITY_SERVICE
from pytest_clawperator.errors import AdbUnavailableError, ErrorCode, TransportError
from pytest_clawperator.execution.flight import Clearance
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.transport.interface import OnOutput, Transport, ignored
from tests.doubles.transport import ScriptedTransport


def png(size: tuple[int, int] = (90, 200)) -> bytes:
    """Return a picture."""
    content = BytesIO()
    Image.new("RGB", size, "navy").save(content, "PNG")
    return content.getvalue()


_SERVICES = "settings get secure enabled_accessibility_services"


class QuietPhone(ScriptedTransport):
    """A phone with a screen."""

    def __init__(self, serial: str) -> None:
        super().__init__(
            {
                "getprop sys.boot_completed": "1\n",
                re.compile("pm list packages.*"): f"package:{OPERATOR_PACKAGE}\n",
                _SERVICES: f"{OPERATOR_PACKAGE}/{ACCESSIBILITY_SERVICE}",
            },
            serial=serial,
        )
        self.screen: bytes | None = png()
        self.pictures = 0

    def lose_operator(self) -> None:
        """Switch the accessibility service of the Operator off."""
        self.answers[_SERVICES] = "null"

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Return a picture of the screen."""
        self.pictures += 1
        if self.screen is None:
            raise TransportError("the device is frozen", serial=self.serial)
        return self.screen


class QuietConnector:
    """The devices of an adb server, with their states."""

    def __init__(self, **states: str) -> None:
        self.states = states
        self.lists = 0
        self.has_adb = True
        self.phones = {serial: QuietPhone(serial) for serial in states}

    def list(self) -> list[tuple[str, str]]:
        """Return each serial with its state."""
        self.lists += 1
        if not self.has_adb:
            raise AdbUnavailableError("there is no adb", code=ErrorCode.ADB_NOT_FOUND)
        return list(self.states.items())

    def open(self, serial: str) -> Transport:
        """Open a device."""
        return self.phones[serial]

    def read(self, transport: Transport) -> DeviceInfo:
        """Return what a device is."""
        return DeviceInfo(
            serial=transport.serial,
            key=f"key-{transport.serial}",
            manufacturer="Google",
            model="Pixel 9",
            release="16",
            api_level=36,
        )

    def connect(
        self, transport: Transport, package: str | None, clearance: Clearance
    ) -> tuple[Pipeline, Device]:
        """Refuse: nothing is run on these devices."""
        raise NotImplementedError
