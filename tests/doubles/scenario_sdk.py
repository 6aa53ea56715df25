"""An SDK that answers by the rules of a scenario: the first rule that fits, in turn."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from pytest_clawperator.emulators.boot import AdbHost
from pytest_clawperator.emulators.sdk import PidFile, SdkTools, Tool, ToolResult
from pytest_clawperator.errors import EmulatorError, ErrorCode
from pytest_clawperator.transport.interface import ShellResult


class ScenarioSdk(SdkTools, AdbHost):
    """Runs tools, adb and consoles as the rules of a scenario say; ``calls`` are its tools."""

    def __init__(self, scenario: dict[str, Any], *, home: Path) -> None:
        self._home = home
        self._rules = scenario.get("rules", [])
        self._turns: dict[int, int] = {}
        self.calls: list[list[str]] = []

    def run(
        self,
        tool: Tool,
        *arguments: str,
        timeout: float,
        stdin: str = "",
        on_line: Callable[[str], None] | None = None,
        pid_file: PidFile | None = None,
        lock: int | None = None,
    ) -> ToolResult:
        """Answer as the scenario's tool."""
        self.calls.append([tool.value, *arguments])
        reply = self._reply(tool.value, " ".join(arguments))
        return ToolResult(reply.get("code", 0), reply.get("stdout", ""), reply.get("stderr", ""))

    def spawn(
        self, tool: Tool, *arguments: str, output: Path, pid_file: PidFile | None = None
    ) -> subprocess.Popen[bytes]:
        """Start an emulator that goes on."""
        self.calls.append([tool.value, *arguments])
        return cast("subprocess.Popen[bytes]", _Running())

    def devices(self) -> list[tuple[str, str]]:
        """List what ``adb devices`` lists."""
        lines = self._reply("adb", "devices").get("stdout", "").splitlines()[1:]
        return [
            (serial, state)
            for serial, _, state in (line.partition("\t") for line in lines)
            if state
        ]

    def shell(self, serial: str, command: str) -> ShellResult:
        """Answer as ``adb shell``."""
        reply = self._reply("adb", f"-s {serial} shell {command}")
        return ShellResult(reply.get("stdout", ""), reply.get("stderr", ""), reply.get("code", 0))

    def console(self, serial: str, command: str) -> str:
        """Answer as ``adb emu``."""
        reply = self._reply("adb", f"-s {serial} emu {command}")
        if reply.get("code"):
            raise EmulatorError(reply.get("stderr") or "refused", code=ErrorCode.UNKNOWN)
        return str(reply.get("stdout", ""))

    def _reply(self, tool: str, arguments: str) -> dict[str, Any]:
        for number, rule in enumerate(self._rules):
            if rule["tool"] == tool and re.search(rule["match"], arguments):
                turns = rule.get("seq") or [rule]
                turn = self._turns.get(number, 0)
                self._turns[number] = turn + 1
                reply: dict[str, Any] = turns[min(turn, len(turns) - 1)]
                self._write(reply.get("writeFile"))
                return reply
        return {}

    def _write(self, file: dict[str, str] | None) -> None:
        if file is not None:
            path = Path(file["path"].replace("$HOME", str(self._home)))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file["text"])


class _Running:
    pid = 4711

    def poll(self) -> int | None:
        """Return that it goes on."""
        return None
