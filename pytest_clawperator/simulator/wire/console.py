"""The emulator console: a text protocol on the even port beside adbd's odd one."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from pytest_clawperator.simulator.wire.adbd import Adbd

TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - its name, not its content
_MAX_LINE = 4096
_PAIR_ATTEMPTS = 200
_PROMPT = "Android Console: type 'help' for a list of commands\r\nOK\r\n"

_HELP = {
    "help|h|?": "print a list of commands",
    "ping": "check if the emulator is alive",
    "avd": "control virtual device execution",
    "auth": "user authentication for the emulator console",
    "kill": "kill the emulator instance",
    "quit|exit": "quit control session",
}

_AVD_HELP = {
    "stop": "stop the virtual device",
    "start": "start/restart the virtual device",
    "status": "query virtual device status",
    "name": "query virtual device name",
    "path": "query AVD path",
    "snapshot": "state snapshot commands",
}

_SNAPSHOT_HELP = {
    "list": "list available state snapshots",
    "save": "save state snapshot",
    "load": "load state snapshot",
    "delete": "delete state snapshot",
}

# What may be asked without a token, as on the real one.
_OPEN_COMMANDS = ("help", "h", "?", "ping", "avd", "auth", "quit", "exit")


def token_path() -> Path:
    """Return where adb and emulators look for the token of this user."""
    try:
        return Path.home() / TOKEN_FILE
    except RuntimeError:
        # A user without a home; there is no token at the root either.
        return Path("/") / TOKEN_FILE


def user_token() -> str:
    """Read the token that adb sends to consoles; empty if this user has none."""
    try:
        return token_path().read_text("utf-8", "replace").strip()
    except OSError:
        return ""


async def listen_as_emulator(console: Console, adbd: Adbd) -> int:
    """Start both on neighbouring free ports and return the console's, which is even."""
    for _ in range(_PAIR_ATTEMPTS):
        port = _free_port() & ~1
        try:
            await console.start(port=port)
        except OSError:
            continue
        try:
            await adbd.start(port=port + 1)
        except OSError:
            await console.stop()
            continue
        return port
    raise OSError(f"no two neighbouring free ports were found in {_PAIR_ATTEMPTS} attempts")


class ConsoleRefusal(Exception):
    """What a console does not do; the text is its reason."""


class VirtualDevice(Protocol):
    """What a console can do to the emulator, beyond naming and ending it."""

    @property
    def path(self) -> str:
        """The folder of its files."""

    def check_kill(self) -> None:
        """Raise ``ConsoleRefusal`` if it does not let itself be ended."""

    def list_snapshots(self) -> list[str]:
        """Return a line for each snapshot."""

    async def save_snapshot(self, name: str) -> None:
        """Save the state under a name, in place of what had it."""

    async def load_snapshot(self, name: str) -> None:
        """Go back to a saved state."""

    def delete_snapshot(self, name: str) -> None:
        """Delete a saved state."""


class Console:
    """Answers console commands about one simulated emulator."""

    def __init__(
        self,
        *,
        avd_name: str,
        on_kill: Callable[[], None],
        token: Callable[[], str] = user_token,
        device: VirtualDevice | None = None,
    ) -> None:
        self.avd_name = avd_name
        self.device = device
        self.stopped = False
        self._on_kill = on_kill
        self._token = token
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
        for session in list(self._sessions):
            session.cancel()
        others = self._sessions - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._sessions.add(session)
        session.add_done_callback(self._sessions.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = _Session(self, self._token())
        killed = False
        try:
            writer.write(session.greeting().encode())
            while not session.over:
                line = await reader.readline()
                if not line.endswith(b"\n"):
                    break
                answer = await session.answer(line.decode("utf-8", "replace"))
                writer.write(answer.encode())
                await writer.drain()
            killed = session.killed
        except (OSError, ValueError):
            # Gone, or a line without end.
            pass
        finally:
            writer.close()
        if killed:
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            self._on_kill()


class _Session:
    """One client's session."""

    def __init__(self, console: Console, token: str) -> None:
        self.over = False
        self.killed = False
        self._console = console
        self._device = console.device
        self._token = token
        self._trusted = not token
        # adb prints what follows the second OK: that of a successful ``auth``. Where no token
        # exists it sends none, so the second OK then comes with the first answer. Others, who
        # end their lines as telnet does, read the greeting first and want one OK for each.
        self._owes_second_ok = not token

    def greeting(self) -> str:
        """Return the greeting, with how to authenticate where that is needed."""
        if self._trusted:
            return _PROMPT
        return (
            "Android Console: Authentication required\r\n"
            "Android Console: type 'auth <auth_token>' to authenticate\r\n"
            "Android Console: you can find your <auth_token> in \r\n"
            f"'{token_path()}'\r\nOK\r\n"
        )

    async def answer(self, line: str) -> str:
        """Run one command and return the answer."""
        command, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        if command == "auth":
            self._owes_second_ok = False
            return self._authenticate(rest)
        lead = "OK\r\n" if self._owes_second_ok and not line.endswith("\r\n") else ""
        self._owes_second_ok = False
        try:
            return lead + await self._run(command, rest)
        except ConsoleRefusal as refusal:
            return f"{lead}KO: {refusal}\r\n"

    def _authenticate(self, token: str) -> str:
        if not token:
            return "KO: missing authentication token\r\n"
        if self._token and not hmac.compare_digest(token.encode(), self._token.encode()):
            return f"KO: authentication token does not match ~/{TOKEN_FILE}\r\n"
        self._trusted = True
        return _PROMPT

    async def _run(self, command: str, rest: str) -> str:
        if not command:
            return ""
        if not self._trusted and command not in _OPEN_COMMANDS:
            return "KO: unknown command, try 'help'\r\n"
        if command in ("help", "h", "?"):
            return _listing("Android console commands:", _HELP)
        if command == "ping":
            return "I am alive!\r\nOK\r\n"
        if command == "avd":
            return await self._avd(rest)
        if command in ("quit", "exit"):
            self.over = True
            return ""
        if command == "kill":
            if self._device is not None:
                self._device.check_kill()
            self.over = self.killed = True
            return "OK: killing emulator, bye bye\r\nOK\r\n"
        return "KO: unknown command, try 'help'\r\n"

    async def _avd(self, rest: str) -> str:
        command, _, more = rest.partition(" ")
        if command == "name":
            return f"{self._console.avd_name}\r\nOK\r\n"
        if not command:
            return _listing("available sub-commands:", _AVD_HELP, end="KO: missing sub-command")
        if self._trusted and command == "status":
            state = "stopped" if self._console.stopped else "running"
            return f"virtual device is {state}\r\nOK\r\n"
        if self._trusted and command in ("start", "stop"):
            return self._switch(stopped=command == "stop")
        if self._trusted and self._device is not None and command == "path":
            return f"{self._device.path}\r\nOK\r\n"
        if self._trusted and self._device is not None and command == "snapshot":
            return await self._snapshot(self._device, more.split())
        return "KO: bad sub-command\r\n"

    def _switch(self, *, stopped: bool) -> str:
        """Note that the device was stopped or started; it goes on in any case."""
        if stopped == self._console.stopped:
            return f"KO: virtual device already {'stopped' if stopped else 'running'}\r\n"
        self._console.stopped = stopped
        return "OK\r\n"

    async def _snapshot(self, device: VirtualDevice, words: list[str]) -> str:
        if not words:
            return _listing(
                "available sub-commands:", _SNAPSHOT_HELP, end="KO: missing sub-command"
            )
        command, name = words[0], " ".join(words[1:])
        if command == "list":
            return "".join(f"{line}\r\n" for line in [*device.list_snapshots(), "OK"])
        if command not in ("save", "load", "del", "delete"):
            return "KO: bad sub-command\r\n"
        if not name:
            return f"KO: argument missing, try 'avd snapshot {command} <name>'\r\n"
        if command == "save":
            await device.save_snapshot(name)
        elif command == "load":
            await device.load_snapshot(name)
        else:
            device.delete_snapshot(name)
        return "OK\r\n"


def _listing(title: str, commands: dict[str, str], *, end: str = "OK") -> str:
    lines = [f"    {name:<16} {text}" for name, text in commands.items()]
    return "\r\n".join([title, "", *lines, "", end, ""])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
