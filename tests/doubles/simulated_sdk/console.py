"""The emulator console: a text protocol on the even port beside adbd's odd one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Protocol

_GREETING = "Android Console: type 'help' for a list of commands\r\nOK\r\n"
_MAX_LINE = 4096


class ConsoleRefusal(Exception):
    """A command that failed; the text is the reason."""


class ConsoleDevice(Protocol):
    """The emulator behind a console."""

    @property
    def avd_name(self) -> str:
        """The name of the virtual device."""

    @property
    def path(self) -> str:
        """The folder of its files."""

    def kill(self) -> None:
        """End it, or raise ``ConsoleRefusal``."""

    def list_snapshots(self) -> list[str]:
        """Return the lines of the table of snapshots."""

    async def save_snapshot(self, name: str) -> None:
        """Save the state under a name, replacing one that has it."""

    async def load_snapshot(self, name: str) -> None:
        """Go back to a saved state."""

    def delete_snapshot(self, name: str) -> None:
        """Delete a saved state."""


class Console:
    """Answers the console commands of one emulator; any authentication token is accepted."""

    def __init__(self, device: ConsoleDevice) -> None:
        self._device = device
        self._server: asyncio.Server | None = None
        self._sessions: set[asyncio.Task[None]] = set()

    async def start(self, *, port: int) -> None:
        """Listen on a port of the loopback interface."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port, limit=_MAX_LINE)

    async def stop(self) -> None:
        """Stop listening and end every session."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for session in self._sessions:
            session.cancel()
        if self._sessions:
            await asyncio.wait(self._sessions)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._sessions.add(session)
        session.add_done_callback(self._sessions.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # adb prints what follows the second OK: that of a successful ``auth``. Where the user has
        # no token it sends none, so the second OK then comes with the first answer.
        owes_second_ok = not _token_path().is_file()
        try:
            writer.write(_GREETING.encode())
            while (line := await reader.readline()).endswith(b"\n"):
                command = line.decode("utf-8", "replace").split()
                if command[:1] == ["auth"]:
                    writer.write(_GREETING.encode())
                    continue
                if command in (["quit"], ["exit"]):
                    break
                answer = await self._answer(command)
                writer.write((("OK\r\n" if owes_second_ok else "") + answer).encode())
                owes_second_ok = False
                await writer.drain()
        except (OSError, ValueError):
            pass  # the client is gone, or sent a line without end
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, command: list[str]) -> str:
        device = self._device
        try:
            if command == ["kill"]:
                device.kill()
                return "OK: killing emulator, bye bye\r\nOK\r\n"
            if command == ["avd", "name"]:
                return f"{device.avd_name}\r\nOK\r\n"
            if command == ["avd", "path"]:
                return f"{device.path}\r\nOK\r\n"
            if command[:2] == ["avd", "snapshot"]:
                return await self._snapshot(command[2:])
        except ConsoleRefusal as refusal:
            return f"KO: {refusal}\r\n"
        return "KO: unknown command, try 'help'\r\n"

    async def _snapshot(self, command: list[str]) -> str:
        device = self._device
        if command == ["list"]:
            return "".join(f"{line}\r\n" for line in [*device.list_snapshots(), "OK"])
        if len(command) != 2:
            return "KO: argument missing, try 'avd snapshot <command> <name>'\r\n"
        if command[0] == "save":
            await device.save_snapshot(command[1])
        elif command[0] == "load":
            await device.load_snapshot(command[1])
        elif command[0] in ("del", "delete"):
            device.delete_snapshot(command[1])
        else:
            return "KO: bad sub-command\r\n"
        return "OK\r\n"


def _token_path() -> Path:
    return Path("~/.emulator_console_auth_token").expanduser()
