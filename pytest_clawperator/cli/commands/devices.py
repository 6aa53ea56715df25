"""``devices``: which devices there are."""

from __future__ import annotations

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.output import Answer, Line, Piece, Table, notice
from pytest_clawperator.devices.inventory import USABLE, ConnectedDevice, list_devices
from pytest_clawperator.transport.server import ensure_server, locate_server


@command("devices", examples=["devices", "devices --json"])
def devices(options: GlobalOptions) -> Answer:
    """List the connected devices, the unusable ones included, each with its state."""
    server = locate_server(options.adb)
    ensure_server(server, say=notice)
    found = list_devices(server)
    listed = [{"serial": device.serial, "state": device.state} for device in found]
    return Answer({"devices": listed}, _page(found))


def _page(found: list[ConnectedDevice]) -> list[Piece]:
    if not found:
        return ["No device is connected. Start a simulated one: clawperator-py simulate"]
    rows = [
        (device.serial, Line(device.state, "green" if device.state == USABLE else "red"))
        for device in found
    ]
    return [Table(("serial", "state"), rows)]
