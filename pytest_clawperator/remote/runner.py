"""Opening a device of another host: all of it through our service, else executions only."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from pytest_clawperator.client.device import Device, NoDevice
from pytest_clawperator.contracts.envelope import StepResult
from pytest_clawperator.contracts.events import Observer
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.devices.connection import (
    notifier,
    open_runner,
    refuse_with_url,
    wanted_package,
)
from pytest_clawperator.devices.inventory import SERIAL_VARIABLE
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.flight import Clearance, always_clear
from pytest_clawperator.execution.pipeline import Observers, Pipeline, Runner
from pytest_clawperator.execution.postprocess import (
    NO_PROOFS,
    Collected,
    Processor,
    postprocess,
    reconcile_status,
    set_proofs_apart,
)
from pytest_clawperator.execution.result import LogSlice, RunResult
from pytest_clawperator.execution.screenshots import is_png
from pytest_clawperator.remote.http import (
    LARGEST_ANSWER,
    choose_serial,
    open_host,
    read_device_states,
    read_run,
)
from pytest_clawperator.remote.leases import ServiceApi, lease_served, locate_service, open_service
from pytest_clawperator.remote.tunnel import LeasedTransport

# File systems round the time of a change, some to two seconds.
_CLOCK_SLACK = 2.0


def open_remote(
    url: str,
    *,
    serial: str | None = None,
    operator_package: str | None = None,
    operator_apk: str | Path | None = None,
    grant: bool = False,
    observers: Sequence[Observer] = (),
    clearance: Clearance = always_clear,
) -> tuple[Runner, Device]:
    """Open a device of another host: by its lease if it runs our service, else executions only."""
    wanted = serial or os.environ.get(SERIAL_VARIABLE) or None
    package = wanted_package(operator_package)
    service = open_service(url)
    if service is not None:
        return _open_served(
            service, wanted, package, operator_apk=operator_apk, grant=grant, observers=observers
        )
    refuse_with_url(operator_apk=operator_apk, grant=grant)
    runner = RemoteRunner(
        url,
        serial=wanted,
        operator_package=package,
        observers=observers,
        clearance=clearance,
    )
    return runner, NoDevice(runner.serial, f"{url} runs executions and nothing else")


def _open_served(
    service: ServiceApi,
    serial: str | None,
    package: str | None,
    *,
    operator_apk: str | Path | None,
    grant: bool,
    observers: Sequence[Observer],
) -> tuple[Pipeline, Device]:
    """Lease a device of a service, and open it as over adb; closing it releases it."""
    with ExitStack() as opened:
        opened.callback(service.close)
        states = {device.serial: device.state for device in service.devices()}
        chosen = choose_serial(states, wanted=serial, url=service.url)
        lease = lease_served(service.url, chosen)
        opened.callback(lease.release)
        server = locate_service(service.url, lease=lease.lease)
        transport = LeasedTransport(
            server, chosen, on_notice=notifier(chosen, observers), release=lease.release
        )
        opened.callback(transport.close)
        runner = open_runner(
            transport,
            server=server,
            operator_package=package,
            operator_apk=operator_apk,
            grant=grant,
            observers=observers,
            clearance=lease.clear,
        )
        opened.pop_all()
        service.close()
    return runner


class RemoteRunner:
    """Runs executions on a device of another host, where ``clawperator serve`` listens.

    ``url`` says where, as in ``http://lab-3:3000``. Without a ``serial`` that host's only
    device is used; without an ``operator_package`` it decides itself. ``margin`` is how many
    seconds it may take beyond the execution's own timeout, because it waits a little longer
    than that and runs adb commands before and after.
    """

    def __init__(
        self,
        url: str,
        *,
        serial: str | None = None,
        operator_package: str | None = None,
        observers: Iterable[Observer] = (),
        clearance: Clearance = always_clear,
        margin: float = 30.0,
        connect_timeout: float = 10.0,
    ) -> None:
        self._operator_package = operator_package
        self._clearance = clearance
        self._margin = margin
        self._turn = threading.Lock()
        self._host = open_host(url, connect_timeout=connect_timeout)
        try:
            states = read_device_states(self._host.ask("GET", "/devices", timeout=margin))
            self._serial = choose_serial(states, wanted=serial, url=self._host.url)
        except BaseException:
            self._host.close()
            raise
        self.observers = Observers(observers, serial=self._serial)

    @property
    def serial(self) -> str:
        """The device's serial."""
        return self._serial

    @property
    def url(self) -> str:
        """The other host's address."""
        return self._host.url

    def run(
        self,
        execution: Execution,
        *,
        processors: Sequence[Processor] = (),
        proofs: Mapping[str, str] = NO_PROOFS,
    ) -> RunResult:
        """Run the execution; a failed envelope is returned, not raised.

        ``processors`` are applied to the other host's answer, before observers see it;
        ``proofs`` name the actions that are left out of it.

        Another thread waits its turn; another client of that host gets an
        :class:`ExecutionConflictError`.
        """
        return self.observers.watch(
            execution, lambda: self._named(execution, processors, proofs), proofs=proofs
        )

    def close(self) -> None:
        """Close the connection to the other host."""
        self._host.close()

    def _named(
        self, execution: Execution, processors: Sequence[Processor], proofs: Mapping[str, str]
    ) -> RunResult:
        """Run, and let every error say which device it is about."""
        try:
            with self._turn:
                return self._executed(execution, processors, proofs)
        except ClawperatorError as exc:
            exc.serial = exc.serial or self._serial
            raise

    def _executed(
        self, execution: Execution, processors: Sequence[Processor], proofs: Mapping[str, str]
    ) -> RunResult:
        started_at, begin = time.time(), time.monotonic()
        timeout = execution.timeout_ms / 1000 + self._margin
        self._clearance(execution.command_id, timeout)
        answer = self._host.ask("POST", "/execute", timeout=timeout, body=self._body(execution))
        run = read_run(answer, command_id=execution.command_id, serial=self._serial)
        # The other host has done the usual post-processing; a second time would be wrong.
        collected = Collected(actions=execution.actions, serial=run.serial, proofs=proofs)
        apart = (set_proofs_apart, reconcile_status) if proofs else ()
        return RunResult.of(
            postprocess(run.envelope, collected, (*apart, *processors)),
            serial=run.serial,
            elapsed=time.monotonic() - begin,
            terminal_source=run.terminal_source,
            log=LogSlice(lacking="the other host keeps the device's log to itself"),
            screenshot=_picture(run.envelope.steps, taken_after=started_at),
        )

    def _body(self, execution: Execution) -> bytes:
        about = {"deviceId": self._serial}
        if self._operator_package is not None:
            about["operatorPackage"] = self._operator_package
        # Joined as text: the payload has its own way of writing JSON, half characters too.
        return f'{json.dumps(about)[:-1]}, "execution": {execution.to_json()}}}'.encode()


def list_remote(url: str, *, timeout: float = 30.0) -> dict[str, str]:
    """Return the state of each device of another host, by serial."""
    host = open_host(url, connect_timeout=10.0)
    try:
        return read_device_states(host.ask("GET", "/devices", timeout=timeout))
    finally:
        host.close()


def _picture(steps: Sequence[StepResult], *, taken_after: float) -> bytes | None:
    """Return the screenshot that the other host wrote, if its path leads to it from here.

    The same path may lead to another file here, so it must be a picture, and a new one.
    """
    taken = (step for step in steps if step.action_type == "take_screenshot" and step.success)
    path = Path(next((step.data.get("path", "") for step in taken), ""))
    if not path.is_absolute():
        return None
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_mtime < taken_after - _CLOCK_SLACK:
            return None
        with path.open("rb") as file:
            picture = file.read(LARGEST_ANSWER)
    except (OSError, ValueError):  # not there, not ours to read, or no path at all
        return None
    return picture if is_png(picture) else None
