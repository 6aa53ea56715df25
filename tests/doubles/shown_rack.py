"""Devices in memory that can be looked at: with a picture, a name and a state."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

from PIL import Image, ImageDraw

from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.execution.flight import Clearance
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.service.station import PastRun
from pytest_clawperator.transport.interface import Transport
from tests.doubles.log import LoggedTransport


def painted(number: int) -> bytes:
    """Paint the screen of a device."""
    image = Image.new("RGB", (360, 800), ((number * 40) % 256, 110, 160))
    draw = ImageDraw.Draw(image)
    draw.rectangle((30, 60, 330, 160), fill="white")
    draw.text((60, 100), f"device {number}", fill="black")
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


@dataclass
class ShownDevices:
    """The devices, each with its state; names are those of the models."""

    states: dict[str, str]
    names: dict[str, str] = field(default_factory=dict)

    def list(self) -> list[tuple[str, str]]:
        """Return the serials and states."""
        return list(self.states.items())

    def open(self, serial: str) -> Transport:
        """Open a device with its picture."""
        transport = LoggedTransport(serial=serial)
        transport.picture = painted(list(self.states).index(serial))
        return transport

    def read(self, transport: Transport) -> DeviceInfo:
        """Return what a device is."""
        serial = transport.serial
        return DeviceInfo(
            serial=serial,
            key=f"shown-{serial}",
            manufacturer="Google",
            model=self.names.get(serial, "Pixel 8"),
            release="16",
            api_level=36,
            operator_version="0.5.3",
        )

    def connect(
        self, transport: Transport, package: str | None, clearance: Clearance
    ) -> tuple[Pipeline, Device]:
        """Refuse: nothing is run on them."""
        raise NotImplementedError


def past_run(*actions: str, code: str | None = None, at: float) -> PastRun:
    """Make an execution that ended."""
    types = [{"type": kind, "params": {"durationMs": 1}} for kind in actions]
    return PastRun(
        execution=complete_execution(types),
        began_at=at,
        elapsed=0.123,
        envelope=None if code else {"status": "success"},
        code=code,
    )
