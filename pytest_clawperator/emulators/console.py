"""The console of a running emulator: a text protocol on the port in its serial."""

from __future__ import annotations

import socket
import time
from pathlib import Path

from pytest_clawperator.errors import EmulatorError, ErrorCode

HOST = "127.0.0.1"
_TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - its name, not its content
_LARGEST_ANSWER = 1024 * 1024


def console_port(serial: str) -> int | None:
    """Return the console's port of an emulator's serial; None for another device."""
    name, _, port = serial.rpartition("-")
    return int(port) if name == "emulator" and port.isdecimal() else None


def ask_console(serial: str, command: str, *, timeout: float = 30.0) -> str:
    """Send one command and return its answer; raise if the emulator refuses it."""
    port, deadline = console_port(serial), time.monotonic() + timeout
    if port is None:
        raise _failed(serial, "it has no console: it is no emulator")
    try:
        with socket.create_connection((HOST, port), timeout=timeout) as connection:
            session = _Session(connection, deadline)
            if "Authentication required" in session.answer():
                session.send(f"auth {_token()}")
                session.answer()
            session.send(f"{command}\nquit")
            return session.rest()
    except _Refused as exc:
        raise _failed(serial, f"{command}: {exc}") from exc
    except OSError as exc:
        raise _failed(serial, f"its console does not answer: {exc.strerror or exc}") from exc


class _Refused(Exception):
    """The console answered KO."""


class _Session:
    """One conversation with a console."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline
        self._unread = b""

    def send(self, command: str) -> None:
        """Send a command."""
        self._connection.sendall(f"{command}\n".encode())

    def answer(self) -> str:
        """Read up to the line that ends an answer: OK, or KO with a reason."""
        lines: list[str] = []
        while (line := self._line()) != "OK":
            if line is None:
                raise ConnectionError("it closed the connection")
            lines.append(line)
        return "\n".join(lines)

    def rest(self) -> str:
        """Read to the end of the conversation; some consoles send one OK more than others."""
        lines: list[str] = []
        while (line := self._line()) is not None:
            lines.append(line)
        return "\n".join(line for line in lines if line != "OK")

    def _line(self) -> str | None:
        """Read a line; None at the end. Raise if it says that a command was refused."""
        while b"\n" not in self._unread:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("it took too long")
            self._connection.settimeout(left)
            chunk = self._connection.recv(4096)
            if not chunk:
                return None
            if len(self._unread) > _LARGEST_ANSWER:
                raise ConnectionError("its answer has no end")
            self._unread += chunk
        read, _, self._unread = self._unread.partition(b"\n")
        line = read.decode("utf-8", "replace").strip()
        if line == "KO" or line.startswith("KO:"):
            raise _Refused(line.removeprefix("KO").lstrip(": ") or "it was refused")
        return line


def _token() -> str:
    try:
        return (Path.home() / _TOKEN_FILE).read_text("utf-8", "replace").strip()
    except (OSError, RuntimeError):
        return ""


def _failed(serial: str, why: str) -> EmulatorError:
    return EmulatorError(
        f"the emulator's console did not do as asked: {why}",
        code=ErrorCode.UNKNOWN,
        serial=serial,
        hint="Check that the emulator still runs (`adb devices`), and that ~/"
        f"{_TOKEN_FILE} belongs to this user.",
    )
