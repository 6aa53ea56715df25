"""A device in memory: answers by command, and a record of what was asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_clawperator.transport.interface import Log, OnOutput, QuickShell, ShellResult, ignored

Answer = str | ShellResult | Exception | Callable[[str], "str | ShellResult"]

# How several questions are put into one line; each is answered on its own.
_QUESTION = re.compile(r"\{ (.*?); \} 2>&1; echo (\w+):\$\?(?:; )?", re.DOTALL)


class ScriptedTransport:
    """Answers each command from a table; keys are whole commands or patterns of them.

    A text is the output of a command that succeeded; what the table lacks, the device lacks.
    """

    def __init__(
        self, answers: Mapping[str | re.Pattern[str], Answer] | None = None, *, serial: str = "PH1"
    ) -> None:
        self.answers = dict(answers or {})
        self.serial = serial
        self.display: int | None = None
        self.connections = 1
        self.calls: list[str] = []
        self.round_trips = 0
        self.files: dict[str, bytes] = {}
        self.installed: list[Path] = []
        self.install_error: Exception | None = None
        self.closed = False

    @property
    def log(self) -> Log:
        """Refuse: there is none."""
        raise NotImplementedError

    @property
    def quick_shell(self) -> QuickShell:
        """Refuse: there is none."""
        raise NotImplementedError

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Answer a command, or each of several that are put into one line."""
        self.round_trips += 1
        questions = _QUESTION.findall(command)
        if not questions:
            return self._answer(command)
        output = ""
        for question, mark in questions:
            result = self._answer(question)
            output += f"{result.stdout}{result.stderr}{mark}:{result.exit_code}\n"
        return ShellResult(output, "", 0)

    def _answer(self, command: str) -> ShellResult:
        self.calls.append(command)
        missing = ShellResult("", f"sh: {command.split()[0]}: inaccessible or not found\n", 127)
        found: Answer = missing
        for key, value in self.answers.items():
            if key == command if isinstance(key, str) else key.fullmatch(command):
                found = value
        if isinstance(found, Exception):
            raise found
        answer = found(command) if callable(found) else found
        return ShellResult(answer, "", 0) if isinstance(answer, str) else answer

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Return the output of a command."""
        return self.shell(command).stdout.encode()

    def push(self, source: bytes | Path, path: str) -> None:
        """Keep a file."""
        self.files[path] = source if isinstance(source, bytes) else source.read_bytes()

    def pull(self, path: str) -> bytes:
        """Return a file that was pushed."""
        return self.files[path]

    def install(self, apk: Path, *, timeout: float = 180.0) -> None:
        """Take note of an app, or refuse it."""
        if self.install_error is not None:
            raise self.install_error
        self.installed.append(apk)

    def close(self) -> None:
        """Take note."""
        self.closed = True
