"""The devices of this machine, and the executions that run on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.devices.connection import chosen_package, open_runner
from pytest_clawperator.devices.inventory import USABLE, read_device
from pytest_clawperator.devices.operator import operator_version
from pytest_clawperator.errors import (
    AmbiguousDeviceError,
    ClawperatorError,
    DeviceNotFoundError,
    ErrorCode,
    ExecutionConflictError,
    NoDeviceError,
)
from pytest_clawperator.execution.flight import Clearance
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.remedies import Wording, for_scripts
from pytest_clawperator.service.events import Events
from pytest_clawperator.service.leasing import Leasing
from pytest_clawperator.service.station import Connector, Station
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.server import ensure_server
from pytest_clawperator.transport.wire import AdbServer

#: How many devices can be busy at once, and how many other requests can wait for devices.
RUNS, THREADS = 128, 64

_T = TypeVar("_T")


class AdbConnector:
    """The devices of an adb server; ``package`` is the default Operator."""

    def __init__(
        self,
        server: AdbServer,
        *,
        package: str | None = None,
        notify: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.server = server
        self._package = chosen_package(package)
        self._notify = notify

    def list(self) -> list[tuple[str, str]]:
        """Return each serial with its state."""
        ensure_server(self.server, notify=self._notify)
        return self.server.devices()

    def open(self, serial: str) -> Transport:
        """Open a device without sending anything to it."""
        return AdbTransport(self.server, serial)

    def read(self, transport: Transport) -> DeviceInfo:
        """Read the properties of a device."""
        info = read_device(transport, server=self.server)
        version = operator_version(transport, self._package)
        return replace(info, operator_package=self._package, operator_version=version)

    def connect(
        self, transport: Transport, package: str | None, clearance: Clearance
    ) -> tuple[Pipeline, Device]:
        """Make the Operator ready; the transport stays open if that fails."""
        return open_runner(
            transport,
            server=self.server,
            operator_package=package or self._package,
            clearance=clearance,
            keep=True,
        )


class Rack:
    """The devices of this machine; used in the event loop's thread."""

    def __init__(
        self,
        connector: Connector,
        *,
        leasing: Leasing | None = None,
        wording: Wording = for_scripts,
    ) -> None:
        self._wording = wording
        self.leasing = leasing or Leasing()
        self.events = Events()
        self._connector = connector
        self._stations: dict[str, Station] = {}
        # Separate, so that no execution waits for requests that only read.
        self._runs = ThreadPoolExecutor(RUNS, thread_name_prefix="execution")
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="rack")
        self._joined: dict[str, tuple[Execution, asyncio.Future[RunResult]]] = {}
        #: Called when an execution begins or ends.
        self.on_change: Callable[[], None] = lambda: None

    async def devices(self) -> list[tuple[str, str]]:
        """Return each connected serial with its state."""
        return await self.in_thread(self._connector.list)

    async def station(self, serial: str | None = None) -> Station:
        """Return the device with this serial, or the only one."""
        if serial and serial in self._stations and self._stations[serial].is_known:
            return self._stations[serial]  # if it is gone, using it fails
        found = await self.devices()
        usable = [one for one, state in found if state == USABLE]
        chosen = serial or (usable[0] if len(usable) == 1 else None)
        if chosen is None:
            raise _none_chosen(usable)
        if chosen not in usable:
            raise _not_there(chosen, dict(found))
        return self.station_of(chosen)

    def station_of(self, serial: str) -> Station:
        """Return the station of a device, whether it is connected or not."""
        return self._stations.setdefault(serial, Station(serial, self._connector, self.leasing))

    async def run(
        self, station: Station, execution: Execution, *, package: str | None, token: str | None
    ) -> RunResult:
        """Run an execution; a device runs one at a time.

        The same execution, sent again while it runs, gets the same answer. It continues if the
        client disconnects, because its end must be known.
        """
        running = self._joined.get(station.serial)
        if running is not None:
            if running[0] == execution:
                return await asyncio.shield(running[1])
            raise _conflict(station.serial, execution.command_id, running[0].command_id)
        run = partial(station.run, execution, package=package, token=token)
        future = asyncio.get_running_loop().run_in_executor(self._runs, run)
        self._joined[station.serial] = (execution, future)
        station.running = execution.command_id
        self.on_change()
        future.add_done_callback(partial(self._ended, station))
        with self._in_own_words():
            return await asyncio.shield(future)

    def running_on(self, serial: str) -> Execution | None:
        """Return the execution in flight on a device."""
        running = self._joined.get(serial)
        return None if running is None else running[0]

    async def in_thread(self, ask: Callable[..., _T], *arguments: Any) -> _T:
        """Call a blocking function in a thread."""
        with self._in_own_words():
            return await asyncio.get_running_loop().run_in_executor(self._threads, ask, *arguments)

    async def close(self) -> None:
        """Wait for running executions, and close all connections."""
        running = [future for _, future in self._joined.values()]
        if running:
            await asyncio.wait(running)
        self.leasing.close()
        stations = list(self._stations.values())
        await asyncio.gather(*(self.in_thread(station.close) for station in stations))
        self._runs.shutdown(wait=False)
        self._threads.shutdown(wait=False)

    @contextmanager
    def _in_own_words(self) -> Iterator[None]:
        """Word the hints of errors for users of the service."""
        try:
            yield
        except ClawperatorError as error:
            error.wording = self._wording
            raise

    def _ended(self, station: Station, future: asyncio.Future[RunResult]) -> None:
        station.running = None
        self._joined.pop(station.serial, None)
        self.on_change()
        if not future.cancelled():
            future.exception()  # reported to the clients that still wait


def _none_chosen(usable: list[str]) -> ClawperatorError:
    if not usable:
        return NoDeviceError(
            "No connected devices",
            hint="Connect a device to this machine: `adb devices` must list it as `device`.",
        )
    return AmbiguousDeviceError(
        f"Multiple devices connected: {', '.join(usable)}. Say which with 'deviceId'.",
        hint=f'Send, for example, "deviceId": "{usable[0]}".',
        details={"devices": usable},
    )


def _not_there(serial: str, states: dict[str, str]) -> DeviceNotFoundError:
    usable = [one for one, state in states.items() if state == USABLE]
    state = states.get(serial)
    return DeviceNotFoundError(
        f"Device {serial} not found or not in device state" + (f": it is {state}" if state else ""),
        serial=serial,
        hint="GET /devices lists what is connected, and the state of each.",
        details={"connected": usable, **({"state": state} if state else {})},
    )


def _conflict(serial: str, command_id: str, running: str) -> ExecutionConflictError:
    return ExecutionConflictError(
        "Another execution is in flight on this device",
        code=ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT,
        serial=serial,
        hint="A device takes one execution at a time: wait for the other to end.",
        details={"deviceId": serial, "commandId": command_id, "running": running},
    )
