"""One device of the rack: connected once, used for one execution at a time."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE, DeviceInfo
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.devices.health import check_ready
from pytest_clawperator.errors import ClawperatorError, DeviceError, LeaseError, TransportError
from pytest_clawperator.execution.flight import Clearance
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.execution.postprocess import screenshot_path
from pytest_clawperator.execution.result import LogSlice, RunResult, error_of
from pytest_clawperator.execution.screenshots import no_picture, take_picture
from pytest_clawperator.service.leasing import Leasing
from pytest_clawperator.transport.interface import Transport

#: How many executions are remembered, and how many bytes of their screenshots.
KEPT_RUNS, KEPT_PICTURES = 20, 16 * 1024 * 1024
#: A picture is reused until it is this old, in seconds.
PICTURE_AGE = 1.0

_T = TypeVar("_T")


class Connector(Protocol):
    """Connects to the devices of this machine."""

    def list(self) -> list[tuple[str, str]]:
        """Return each serial with its state."""

    def open(self, serial: str) -> Transport:
        """Open a device without sending anything to it."""

    def read(self, transport: Transport) -> DeviceInfo:
        """Read the properties of a device."""

    def connect(
        self, transport: Transport, package: str | None, clearance: Clearance
    ) -> tuple[Pipeline, Device]:
        """Make the Operator ready; the transport stays open if that fails."""


@dataclass(frozen=True, kw_only=True)
class PastRun:
    """An execution that ended, with its results.

    ``file`` is the file of a screenshot without a path.
    """

    execution: Execution
    began_at: float
    elapsed: float
    envelope: dict[str, Any] | None = None
    code: str | None = None
    message: str | None = None
    picture: bytes | None = None
    file: Path | None = None
    log: LogSlice = field(default_factory=LogSlice)

    @property
    def ended_at(self) -> float:
        """When it ended."""
        return self.began_at + self.elapsed

    def summary(self) -> dict[str, Any]:
        """Return what a list of executions shows."""
        return {
            "commandId": self.execution.command_id,
            "source": self.execution.source,
            "actions": [action.type for action in self.execution.actions],
            "at": self.began_at,
            "elapsedMs": round(self.elapsed * 1000),
            "status": "error" if self.envelope is None else self.envelope["status"],
            "code": self.code,
        }


@dataclass
class _Permission:
    """The lease of the current execution, which pipelines check before they send."""

    clear: Clearance | None = field(default=None)

    def __call__(self, command_id: str, seconds: float) -> None:
        assert self.clear is not None, "an execution runs without a lease"
        self.clear(command_id, seconds)


class Station:
    """A device with its connection and its last executions.

    All methods block, and may be called in any thread. ``running`` is the id of the command in
    flight. ``problem`` is the last known problem of the device.
    """

    def __init__(self, serial: str, connector: Connector, leasing: Leasing) -> None:
        self.serial = serial
        self.running: str | None = None
        self._connector = connector
        self._leasing = leasing
        self._opening = threading.Lock()
        self._transport: Transport | None = None
        self._info: tuple[int, DeviceInfo] | None = None
        self._permission = _Permission()
        self._connected: dict[str | None, tuple[Pipeline, Device]] = {}
        self._past: deque[PastRun] = deque()
        self._picture: tuple[float, bytes] | None = None
        self._photographing = threading.Lock()
        self.problem: ClawperatorError | None = None

    @property
    def is_known(self) -> bool:
        """Whether the device was used before."""
        return bool(self._connected)

    @property
    def past(self) -> list[PastRun]:
        """The last executions, the newest first."""
        return list(reversed(self._past))

    @property
    def transport(self) -> Transport:
        """The connection to the device."""
        with self._opening:
            if self._transport is None:
                self._transport = self._connector.open(self.serial)
            return self._transport

    @property
    def known_info(self) -> DeviceInfo | None:
        """The properties of the device, if they were read before."""
        return None if self._info is None else self._info[1]

    @property
    def info(self) -> DeviceInfo:
        """The properties of the device, read once per connection."""
        transport = self.transport
        connection = transport.connections
        if self._info is None or self._info[0] != connection:
            self._info = connection, self._watched(lambda: self._connector.read(transport))
        return self._info[1]

    def run(self, execution: Execution, *, package: str | None, token: str | None) -> RunResult:
        """Run an execution with the lease of this token, or with a temporary one."""
        past = PastRun(execution=execution, began_at=time.time(), elapsed=0.0)
        begin = time.monotonic()
        try:
            with self._leasing.held(self.serial, self.info.key, token) as hold:
                pipeline = self._pipeline(package)
                self._permission.clear = hold.clear
                result = self._watched(lambda: pipeline.run(execution))
            if result.code is not None:
                message = error_of(result).message
                past = replace(past, code=str(result.code), message=message)
            past = replace(past, envelope=result.to_wire(), log=result.log)
            past = replace(past, picture=result.screenshot, file=_own_file(execution, result))
            return result
        except ClawperatorError as error:
            error.serial = error.serial or self.serial
            past = replace(past, code=str(error.code), message=error.message)
            raise
        finally:
            self._remember(replace(past, elapsed=time.monotonic() - begin))

    @contextmanager
    def used(self, token: str | None) -> Iterator[Transport]:
        """Hold the device for something other than an execution."""
        with self._leasing.held(self.serial, self.info.key, token):
            yield self.transport

    def for_reading(self) -> Transport:
        """Return the device for reading only."""
        self._leasing.check_visible(self.serial, self.info.key)
        return self.transport

    def picture(self) -> bytes:
        """Return a picture of the screen as PNG, not older than a second."""
        with self._photographing:
            now = time.monotonic()
            if self._picture is None or now - self._picture[0] > PICTURE_AGE:
                self.for_reading()  # raises if it may not be
                self._picture = (now, self.photograph())
            return self._picture[1]

    def photograph(self) -> bytes:
        """Take a picture of the screen as PNG, without a lease."""
        transport = self.transport

        def take() -> bytes:
            taken = take_picture(transport)
            if not taken.is_png:
                raise TransportError(no_picture(taken.content), serial=self.serial)
            return taken.content

        # A picture proves that the device is connected, and nothing about its Operator.
        return self._watched(take, settles=TransportError)

    def check(self) -> None:
        """Raise the problem that keeps the Operator from working; nothing is changed."""
        transport, package = self.transport, self.info.operator_package or OPERATOR_PACKAGE
        self._watched(lambda: check_ready(transport, package))

    def close(self) -> None:
        """Close the connection."""
        with self._opening:
            for pipeline, _ in self._connected.values():
                pipeline.close()
            self._connected.clear()
            if self._transport is not None:
                self._transport.close()

    def _pipeline(self, package: str | None) -> Pipeline:
        transport = self.transport
        with self._opening:
            if package not in self._connected:
                self._connected[package] = self._watched(
                    lambda: self._connector.connect(transport, package, self._permission)
                )
            return self._connected[package][0]

    def _watched(
        self, ask: Callable[[], _T], *, settles: type[ClawperatorError] = ClawperatorError
    ) -> _T:
        """Use the device and remember its problem; success ``settles`` earlier ones."""
        try:
            answer = ask()
        except (DeviceError, TransportError) as error:
            error.serial = error.serial or self.serial
            if not isinstance(error, LeaseError):  # being held is not a problem of the device
                self.problem = error
            raise
        if isinstance(self.problem, settles):
            self.problem = None
        return answer

    def _remember(self, run: PastRun) -> None:
        """Remember an execution, and limit the pictures kept in memory and on disk."""
        for past in self.past[KEPT_RUNS - 1 :]:
            if past.file is not None:
                past.file.unlink(missing_ok=True)
        kept, left = [run], KEPT_PICTURES - len(run.picture or b"")
        for past in self.past[: KEPT_RUNS - 1]:
            left -= len(past.picture or b"")
            kept.append(past if left >= 0 else replace(past, picture=None))
        self._past = deque(reversed(kept))


def _own_file(execution: Execution, result: RunResult) -> Path | None:
    """Return the file of a screenshot for which the client gave no path."""
    if screenshot_path(execution.actions, ""):
        return None
    shots = (step for step in result.steps if step.action_type == "take_screenshot")
    path = next((step.data.get("path", "") for step in shots), "")
    return Path(path) if path else None
