"""``devices`` and ``packages list``: which devices there are, and which apps on one."""

from __future__ import annotations

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.output import Answer, Line, Piece, Table
from pytest_clawperator.cli.session import connected_devices, open_device, simulated_elsewhere
from pytest_clawperator.client.device_commands import run
from pytest_clawperator.devices.inventory import USABLE, ConnectedDevice


@command("devices", examples=["devices", "devices --json"])
def devices(options: GlobalOptions) -> Answer:
    """List the connected devices, the unusable ones included, each with its state."""
    found = connected_devices(options)
    listed = [{"serial": device.serial, "state": device.state} for device in found]
    return Answer({"devices": listed}, _page(found, options))


@command("packages list", examples=["packages list", "packages list --third-party"])
@click.option("--third-party", is_flag=True, help="Only apps that were installed later.")
def packages_list(options: GlobalOptions, third_party: bool) -> Answer:
    """List the packages of the apps on a device; one that a test run holds can be asked, too."""
    with open_device(options) as transport:
        asked = "pm list packages -3" if third_party else "pm list packages"
        told = run(transport, asked, hint="Wait until the device has started, and try again.")
    lines = (line.strip() for line in told.stdout.splitlines())
    packages = [line.removeprefix("package:") for line in lines if line.startswith("package:")]
    return Answer({"packages": packages}, packages or ["No apps."])


def _page(found: list[ConnectedDevice], options: GlobalOptions) -> list[Piece]:
    if not found:
        start = "Start a simulated one: clawperator-py simulate"
        return [f"No device is connected. {simulated_elsewhere(options) or start}"]
    rows = [
        (device.serial, Line(device.state, "green" if device.state == USABLE else "red"))
        for device in found
    ]
    return [Table(("serial", "state"), rows)]
