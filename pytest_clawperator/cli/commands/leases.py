"""``leases``: who holds which device, and taking one from its holder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.output import Answer, Line, Piece, Table, notice
from pytest_clawperator.cli.session import RUN_ID, usable_devices
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import ConnectedDevice, choose_device, read_device
from pytest_clawperator.devices.lease import LeaseStore, open_leases
from pytest_clawperator.errors import ClawperatorError, DeviceNotFoundError, LeaseError
from pytest_clawperator.execution.flight import Flight, Unfinished
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.visible_text import visible_line


@command(
    "leases",
    examples=["leases", "leases --lease redis://lab:6379/0 --json", "leases --break R58N1"],
)
@click.option("--break", "broken", metavar="SERIAL", help="Take this device from its holder.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def leases(options: GlobalOptions, broken: str | None, yes: bool) -> Answer:
    """Tell who holds which connected device, and which execution is on it now."""
    devices = usable_devices(options)
    with closing(open_leases(options.lease, run_id=RUN_ID, say=notice)) as store:
        if broken is not None:
            return _break(store, _chosen(devices, broken), options, is_sure=yes)
        found = _all_of(store, devices)
    documents = [one.to_document() for one in found]
    return Answer({"leases": documents}, _page(found))


@dataclass(frozen=True)
class _Lease:
    """What is known of a device: its holder, the execution on it, or why nothing is."""

    serial: str
    key: str | None = None
    holder: Holder | None = None
    flight: Unfinished | None = None
    error: str | None = None

    def to_document(self) -> dict[str, Any]:
        """Return it for programs; a token is nobody else's business."""
        holder = None
        if self.holder is not None:
            holder = {k: v for k, v in asdict(self.holder).items() if k != "token"}
        return {
            "serial": self.serial,
            "key": self.key,
            "holder": holder,
            "commandId": None if self.flight is None else self.flight.command_id,
            **({} if self.error is None else {"error": self.error}),
        }


def _all_of(store: LeaseStore, devices: Sequence[ConnectedDevice]) -> list[_Lease]:
    """Ask all devices at once who they are."""
    if not devices:
        return []
    with ThreadPoolExecutor(max_workers=len(devices)) as threads:
        return list(threads.map(lambda device: _lease_of(store, device), devices))


def _lease_of(store: LeaseStore, device: ConnectedDevice) -> _Lease:
    try:
        key = _key_of(device)
        with closing(Flight(key)) as flight:
            return _Lease(device.serial, key, store.holder(key), flight.peek())
    except ClawperatorError as error:
        return _Lease(device.serial, error=error.message)


def _chosen(devices: Sequence[ConnectedDevice], serial: str) -> ConnectedDevice:
    try:
        return choose_device(devices, serial)
    except DeviceNotFoundError as error:
        error.hint = "Correct --break; `clawperator-py leases` lists the devices."
        raise


def _key_of(device: ConnectedDevice) -> str:
    with closing(AdbTransport(device.server, device.serial)) as transport:
        return read_device(transport, server=device.server).key


def _break(
    store: LeaseStore, device: ConnectedDevice, options: GlobalOptions, *, is_sure: bool
) -> Answer:
    key = _key_of(device)
    holder = store.holder(key)
    if holder is None:
        raise Mistake(
            f"nobody holds {device.serial}", hint="There is nothing to break: the device is free."
        )
    # Anybody can have written who the holder is.
    question = visible_line(f"{device.serial} is held by {holder}. Take it from them?")
    if not is_sure and not sys.stdin.isatty():
        raise Mistake(f"{question} Nobody can be asked here", hint="Say so with --yes.")
    if not is_sure and not click.confirm(question, err=True):
        raise click.Abort
    if not store.evict(key, holder):
        raise LeaseError(
            "its holder released it, or it has another one by now",
            serial=device.serial,
            hint="Look again: `clawperator-py leases`.",
        )
    return Answer(
        {"ok": True, "serial": device.serial, "brokenLeaseOf": str(holder)},
        [f"{device.serial} was taken from {holder}; it can send nothing more to the device."],
    )


def _page(found: Sequence[_Lease]) -> list[Piece]:
    if not found:
        return ["No usable device is connected."]
    rows = [(one.serial, _holder_line(one), _flight_line(one)) for one in found]
    return [Table(("serial", "held by", "execution"), rows)]


def _holder_line(lease: _Lease) -> Line:
    if lease.error is not None:
        return Line(lease.error, "red")
    return Line("nobody", "green") if lease.holder is None else Line(str(lease.holder), "yellow")


def _flight_line(lease: _Lease) -> str:
    return "" if lease.flight is None else lease.flight.command_id
