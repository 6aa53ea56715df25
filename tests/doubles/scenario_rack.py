"""A rack of devices that answer by the rules of a scenario."""

from __future__ import annotations

import base64
import re
import threading
from typing import Any

from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.connection import chosen_package
from pytest_clawperator.devices.health import check_ready
from pytest_clawperator.errors import AdbUnavailableError, ErrorCode
from pytest_clawperator.execution.flight import Clearance, Flight
from pytest_clawperator.execution.pipeline import Pipeline
from pytest_clawperator.transport.interface import OnOutput, ShellResult, Transport, ignored
from tests.doubles.log import LoggedTransport, line
from tests.doubles.transport import ScriptedTransport

_END_OF_PICTURE = b"\0\0\0\0IEND\xaeB`\x82"
DEADLINE = 20.0


class ScenarioTransport(LoggedTransport):
    """A device of a scenario: its commands, its log, and what a broadcast makes it log.

    With ``streamDelayMs`` a broadcast takes until it is ``released``.
    """

    def __init__(self, serial: str, scenario: dict[str, Any]) -> None:
        super().__init__(serial=serial)
        self._scenario = scenario
        self._table = ScriptedTransport({re.compile(".*", re.DOTALL): self._answer}, serial=serial)
        self.released = threading.Event()
        if not scenario.get("streamDelayMs"):
            self.released.set()
        self.picture = self.exec_out("screencap")

    def start(self, command: str) -> None:
        """Take a broadcast, and log what the scenario says."""
        assert self.released.wait(DEADLINE)
        super().start(command)
        ids = {
            "{{CMD}}": _found(r'"commandId":"(.*?)"', command),
            "{{TASK}}": _found(r'"taskId":"(.*?)"', command),
        }
        dumped = self._reply("logcat -d -v tag").get("stdout", "").splitlines()
        script = [(0.0, line(_message(text), priority="D")) for text in dumped]
        for text in self._scenario.get("stream", []):
            for mark, value in ids.items():
                text = text.replace(mark, value)
            if text.endswith("{"):  # a malformed envelope is known by its command
                text += f'"commandId":"{ids["{{CMD}}"]}"'
            script.append((0.0, line(_message(text))))
        self.log.script = script
        self._result = _shell_result(self._reply(f"shell {command}"), default=0)

    def result(self, timeout: float) -> ShellResult:
        """Return how the broadcast ended."""
        return self._result

    def prepare(self) -> None:
        """Forget the log of before: each execution has its own."""
        self.log.sent_at = None

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Answer a command, or each of several that are put into one line."""
        return self._table.shell(command)

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Return a picture that is whole."""
        head = self._reply(f"exec-out {command}").get("stdoutB64")
        return base64.b64decode(head) + _END_OF_PICTURE if head else b""

    def _answer(self, command: str) -> ShellResult:
        # The published program's packages are asked for; what it does not ask for is lacking.
        default = 0 if command.startswith("pm ") else 127
        return _shell_result(self._reply(f"shell {command}"), default=default)

    def _reply(self, arguments: str) -> dict[str, Any]:
        return reply(self._scenario, "adb", f"-s {self.serial} {arguments}")


class ScenarioConnector:
    """The devices of a scenario, as ``adb devices`` lists them there."""

    def __init__(self, scenario: dict[str, Any], env: dict[str, str]) -> None:
        self._scenario = scenario
        self._is_missing = "ADB_PATH" in env
        self.transports: dict[str, ScenarioTransport] = {}

    def list(self) -> list[tuple[str, str]]:
        """Return the serials and states."""
        if self._is_missing:
            raise AdbUnavailableError("there is no adb", code=ErrorCode.ADB_NOT_FOUND)
        lines = reply(self._scenario, "adb", "devices").get("stdout", "").strip().split("\n")[1:]
        pairs = (text.partition("\t") for text in lines)
        return [(serial, state) for serial, _, state in pairs if state]

    def open(self, serial: str) -> Transport:
        """Open a device."""
        return self.transports.setdefault(serial, ScenarioTransport(serial, self._scenario))

    def read(self, transport: Transport) -> DeviceInfo:
        """Return what a scenario tells of a device: its serial."""
        return DeviceInfo(serial=transport.serial, key=transport.serial)

    def connect(
        self, transport: Transport, package: str | None, clearance: Clearance
    ) -> tuple[Pipeline, Device]:
        """Make the Operator ready, as over adb, on the clock of the scenario."""
        assert isinstance(transport, ScenarioTransport)
        named = chosen_package(package)
        info, clock = self.read(transport), transport.clock
        pipeline = Pipeline(
            transport,
            operator_package=named,
            flight=Flight(info.key, clock=clock),
            preflight=lambda: check_ready(transport, named).processes,
            clearance=clearance,
            clock=clock,
        )
        pipeline.check()
        return pipeline, Device(transport, info)


def reply(scenario: dict[str, Any], tool: str, arguments: str) -> dict[str, Any]:
    """Return the reply of the first rule that fits."""
    for rule in scenario.get("rules", []):
        if rule["tool"] == tool and re.search(rule["match"], arguments):
            found: dict[str, Any] = rule
            return found
    return {}


def _shell_result(found: dict[str, Any], *, default: int) -> ShellResult:
    code = found.get("code", 0) if found else default
    return ShellResult(found.get("stdout", ""), found.get("stderr", ""), code)


def _message(text: str) -> str:
    """Return the message of a line that logcat printed with its tag."""
    return re.sub(r"^[A-Z]/[^:]*: ?", "", text)


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""
