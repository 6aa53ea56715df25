"""``devices``, ``packages list``, ``leases`` and ``logs``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions, Mistake, invalid
from pytest_clawperator.cli.output import Answer, Line, Piece, Table, as_json, notice, write
from pytest_clawperator.cli.session import (
    RUN_ID,
    connected_devices,
    open_device,
    simulated_elsewhere,
    usable_devices,
)
from pytest_clawperator.client.device_commands import run
from pytest_clawperator.contracts.log import FORMAT_OPTION, TIME_LENGTH, parse_log_line
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import USABLE, ConnectedDevice, choose_device, read_device
from pytest_clawperator.devices.lease import LeaseStore, open_leases
from pytest_clawperator.errors import ClawperatorError, DeviceNotFoundError, LeaseError, LogcatError
from pytest_clawperator.execution.flight import Flight, Unfinished
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible, visible_line
from pytest_clawperator.transport.adb import AdbTransport


@command("devices", examples=["devices", "devices --json"])
def devices(options: GlobalOptions) -> Answer:
    """List the connected devices, the unusable ones included, each with its state."""
    found = connected_devices(options)
    listed = [{"serial": device.serial, "state": device.state} for device in found]
    return Answer({"devices": listed}, _devices_page(found, options))


@command("packages list", examples=["packages list", "packages list --third-party"])
@click.option("--third-party", is_flag=True, help="Only apps that were installed later.")
def packages_list(options: GlobalOptions, third_party: bool) -> Answer:
    """List the packages of the apps on a device, even if a test run holds it."""
    with open_device(options) as transport:
        asked = "pm list packages -3" if third_party else "pm list packages"
        listed = run(transport, asked, hint="Wait until the device has started, and try again.")
    lines = (line.strip() for line in listed.stdout.splitlines())
    packages = [line.removeprefix("package:") for line in lines if line.startswith("package:")]
    return Answer({"packages": packages}, packages or ["No apps."])


def _devices_page(found: list[ConnectedDevice], options: GlobalOptions) -> list[Piece]:
    if not found:
        start = "Start a simulated one: clawperator-py simulate"
        return [f"No device is connected. {simulated_elsewhere(options) or start}"]
    rows = [
        (device.serial, Line(device.state, "green" if device.state == USABLE else "red"))
        for device in found
    ]
    return [Table(("serial", "state"), rows)]


@command(
    "leases",
    examples=["leases", "leases --lease redis://lab:6379/0 --json", "leases --break R58N1"],
)
@click.option("--break", "broken", metavar="SERIAL", help="Take this device from its holder.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def leases(options: GlobalOptions, broken: str | None, yes: bool) -> Answer:
    """Show who holds which connected device, and which execution is running on it."""
    devices = usable_devices(options)
    with closing(open_leases(options.lease, run_id=RUN_ID, notify=notice)) as store:
        if broken is not None:
            return _break_lease(store, _chosen_device(devices, broken), options, is_sure=yes)
        found = _all_of(store, devices)
    documents = [one.to_document() for one in found]
    return Answer({"leases": documents}, _leases_page(found))


@dataclass(frozen=True)
class _Lease:
    """The holder of a device and the execution on it, or why they are unknown."""

    serial: str
    key: str | None = None
    holder: Holder | None = None
    flight: Unfinished | None = None
    error: str | None = None

    def to_document(self) -> dict[str, Any]:
        """Return it for programs, without the token."""
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
    """Read the leases of all devices in parallel."""
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


def _chosen_device(devices: Sequence[ConnectedDevice], serial: str) -> ConnectedDevice:
    try:
        return choose_device(devices, serial)
    except DeviceNotFoundError as error:
        error.hint = "Correct --break; `clawperator-py leases` lists the devices."
        raise


def _key_of(device: ConnectedDevice) -> str:
    with closing(AdbTransport(device.server, device.serial)) as transport:
        return read_device(transport, server=device.server).key


def _break_lease(
    store: LeaseStore, device: ConnectedDevice, options: GlobalOptions, *, is_sure: bool
) -> Answer:
    key = _key_of(device)
    holder = store.holder(key)
    if holder is None:
        raise Mistake(
            f"{device.serial} is not leased", hint="There is nothing to break: the device is free."
        )
    # The holder's name may contain anything.
    question = visible_line(f"{device.serial} is held by {holder}. Take it from them?")
    if not is_sure and not sys.stdin.isatty():
        raise Mistake(f"{question} There is no terminal to ask on", hint="Confirm it with --yes.")
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


def _leases_page(found: Sequence[_Lease]) -> list[Piece]:
    if not found:
        return ["No usable device is connected."]
    rows = [
        (one.serial, _holder_line(one), "" if one.flight is None else one.flight.command_id)
        for one in found
    ]
    return [Table(("serial", "held by", "execution"), rows)]


def _holder_line(lease: _Lease) -> Line:
    if lease.error is not None:
        return Line(lease.error, "red")
    return Line("free", "green") if lease.holder is None else Line(str(lease.holder), "yellow")


_AGO = re.compile(r"([0-9]{1,6}(?:\.[0-9]+)?)(ms|s|m|h|d)", re.ASCII)

_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

_TIME = re.compile(r"[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?", re.ASCII)

_DEVICE_TIME = "%Y-%m-%d %H:%M:%S"

_LOGCAT_TIME = "%m-%d %H:%M:%S.%f"

_CHUNK = 65536


@command(
    "logs",
    examples=["logs", "logs --since 5m", "logs --follow --since 10s | grep Clawperator"],
)
@click.option("--follow", "-f", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option(
    "--since", metavar="TIME", help="How long ago (30s, 5m, 2h), or '11-16 22:30:00' by its clock."
)
def logs(options: GlobalOptions, follow: bool, since: str | None) -> None:
    """Print a device's log, even if a test run holds it."""
    with open_device(options) as transport:
        asked = ["logcat", FORMAT_OPTION]
        if since is not None:
            asked.append(f"-T '{_begin(since, transport)}'")
        if not follow:
            asked.append("-d")
        for line in _log_lines(transport, " ".join(asked)):
            _print_line(line, is_json=options.is_json_explicit)
    if follow:
        raise LogcatError(
            "the log ended, because the device or its adb server is gone",
            serial=transport.serial,
            hint="`clawperator-py devices` shows whether it is back.",
        )


def _begin(since: str, transport: AdbTransport) -> str:
    """Return a time in logcat's format, by the device's clock."""
    if _TIME.fullmatch(since):
        return since if "." in since else f"{since}.000"
    ago = _AGO.fullmatch(since)
    if ago is None:
        raise invalid(
            f"--since {since!r} is not a time",
            hint="Say how long ago (30s, 5m, 2h), or a time as the log has it: '11-16 22:30:00'.",
        )
    clock = transport.shell(f"date '+{_DEVICE_TIME}'").stdout.strip()
    try:
        begin = datetime.strptime(clock, _DEVICE_TIME) - timedelta(
            **{_UNITS[ago[2]]: float(ago[1])}
        )
    except (ValueError, OverflowError) as error:
        raise LogcatError(
            f"the device does not report its time; it printed: {clock[:60] or 'nothing'}",
            serial=transport.serial,
            hint="Say since when by its own clock, as its log has it: --since '11-16 22:30:00'.",
        ) from error
    return begin.strftime(_LOGCAT_TIME)[:TIME_LENGTH]


def _log_lines(transport: AdbTransport, command: str) -> Iterator[bytes]:
    """Yield the output of a command line by line."""
    with closing(transport.server.open(transport.serial, f"exec:{command}")) as connection:
        connection.settimeout(None)
        rest = b""
        while chunk := connection.recv(_CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
        if rest:
            yield rest


def _print_line(line: bytes, *, is_json: bool) -> None:
    text = line.decode("utf-8", "replace").rstrip("\r")
    if not is_json:
        write(visible(hide(text)))
        return
    entry = parse_log_line(line.rstrip(b"\r"))
    if entry is not None:
        write(as_json({"time": text[:TIME_LENGTH], **entry._asdict()}))
