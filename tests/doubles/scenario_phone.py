"""A phone that answers by the rules of a scenario: the first rule that fits a command line."""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Sequence
from typing import Any

from pytest_clawperator.errors import LogcatError, ShellError
from pytest_clawperator.transport.interface import OnOutput, ShellResult, ignored
from tests.doubles.log import LoggedTransport, line
from tests.doubles.transport import ScriptedTransport

_LINE = re.compile(r"(?:\S+ )*?[A-Z]/([^(:]*)(?:\([^)]*\))?: (.*)", re.DOTALL)
_PAYLOAD = re.compile(r"--es 'payload' '(.*)' --receiver", re.DOTALL)


class ScenarioServer:
    """The adb server of a scenario."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.scenario = copy.deepcopy(scenario)  # replies in a sequence are used up
        self.host, self.port, self.path = "127.0.0.1", 5037, None

    def devices(self) -> list[tuple[str, str]]:
        """List what ``adb devices`` lists."""
        lines = reply(self.scenario, "devices").get("stdout", "").splitlines()[1:]
        return [
            (serial, state)
            for serial, tab, state in (line.partition("\t") for line in lines)
            if tab
        ]

    def device_key(self, serial: str) -> None:
        """Have no keys, as every adb server."""


class ScenarioPhone(LoggedTransport):
    """A phone of a scenario; ``broadcasts`` are the payloads that it was sent."""

    def __init__(self, server: ScenarioServer, serial: str, **_: Any) -> None:
        super().__init__(serial=serial)
        self.server = server
        self.scenario = server.scenario
        self.broadcasts: list[Any] = []
        self._table = ScriptedTransport({re.compile(".*", re.DOTALL): self._run}, serial=serial)

    def start(self, command: str) -> None:
        """Take a broadcast: the log of the scenario follows."""
        sent = _PAYLOAD.search(command)
        payload = json.loads(sent[1].replace("'\"'\"'", "'")) if sent else {}
        self.broadcasts.append(payload)
        self.log.script = [(0.01, what) for what in self._logged(payload)]
        self._broadcast = self._run(command)
        super().start(command)

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Answer by the rules; what they do not know, the phone does not have."""
        return self._table.shell(command)

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Return a picture, or raise the error of the rule."""
        answer = reply(self.scenario, f"-s {self.serial} exec-out {command}")
        if answer.get("code"):
            raise ShellError(f"{command} exited with code {answer['code']}", serial=self.serial)
        # The picture of the scenarios has a head only.
        return base64.b64decode(answer["stdoutB64"]) + b"....IENDcrc!"

    def _run(self, command: str) -> ShellResult:
        answer = reply(self.scenario, f"-s {self.serial} shell {command}")
        is_known = answer or command.startswith("am ")
        code = answer.get("code", 0) if is_known else 127
        return ShellResult(answer.get("stdout", ""), answer.get("stderr", ""), code)

    def _logged(self, payload: Any) -> Sequence[bytes | Exception]:
        if "logcatExit" in self.scenario:
            return [LogcatError("the log ended", serial=self.serial)]
        dump = reply(self.scenario, f"-s {self.serial} logcat -d -v tag").get("stdout", "")
        stream = [*dump.splitlines(), *self.scenario.get("stream", [])]
        return [_logged_line(text, payload) for text in stream]


def reply(scenario: dict[str, Any], arguments: str) -> dict[str, Any]:
    """Return the reply of the first rule whose pattern matches; nothing without one."""
    for rule in scenario.get("rules", []):
        if re.search(rule["match"], arguments):
            # Each reply of a sequence is given once, and the last one from then on.
            replies = rule.get("seq", [rule])
            found: dict[str, Any] = replies.pop(0) if len(replies) > 1 else replies[0]
            return found
    return {}


def _logged_line(text: str, payload: Any) -> bytes:
    """Return a line of the published program's log format in that of ours."""
    for mark, key in (("{{CMD}}", "commandId"), ("{{TASK}}", "taskId")):
        text = text.replace(mark, str(payload.get(key, "")))
    found = _LINE.fullmatch(text)
    if found is None:
        return line(text)
    priority = "I" if found[2].startswith("[Clawperator-Result]") else "D"
    return line(found[2], tag=found[1], priority=priority)
