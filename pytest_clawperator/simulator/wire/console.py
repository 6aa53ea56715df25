"""The emulator console: a text protocol on the even port beside adbd's odd one."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import socket
from collections.abc import Callable
from pathlib import Path

from pytest_clawperator.simulator.wire.adbd import Adbd

TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - its name, not its content
_MAX_LINE = 4096
_PAIR_ATTEMPTS = 200
_PROMPT = "Android Console: type 'help' for a list of commands\r\nOK\r\n"
_UNKNOWN = "KO: unknown command, try 'help'\r\n"


def token_path() -> Path:
    """Return where adb and emulators keep the token of this user."""
    return Path.home() / TOKEN_FILE


def user_token() -> str:
    """Read the token that adb sends to consoles; return "" if this user has none."""
    try:
        return token_path().read_text("utf-8", "replace").strip()
    except (OSError, RuntimeError):  # there is no such file, or the user has no home
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Console:
    """Names and ends one simulated emulator on request."""

    def __init__(
        self,
        *,
        avd_name: str,
        on_kill: Callable[[], None],
        token: Callable[[], str] = user_token,
    ) -> None:
        self.avd_name = avd_name
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
        session = _Session(self.avd_name, self._token())
        killed = False
        try:
            writer.write(session.greeting().encode())
            while not session.over:
                line = await reader.readline()
                if not line.endswith(b"\n"):
                    break
                writer.write(session.answer(line.decode("utf-8", "replace")).encode())
                await writer.drain()
            killed = session.killed
        except (OSError, ValueError):
            # The client is gone, or sent a line without end.
            pass
        finally:
            writer.close()
        if killed:
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            self._on_kill()


class _Session:
    """One client's session."""

    def __init__(self, avd_name: str, token: str) -> None:
        self.over = False
        self.killed = False
        self._avd_name = avd_name
        self._token = token
        self._trusted = not token
        # adb prints what follows the second OK: that of a successful ``auth``. Where no token
        # exists it sends none, so the second OK then comes with the first answer.
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

    def answer(self, line: str) -> str:
        """Run one command and return the answer."""
        words = line.split()
        if words[:1] == ["auth"]:
            self._owes_second_ok = False
            return self._authenticate("".join(words[1:]))
        lead = "OK\r\n" if self._owes_second_ok else ""
        self._owes_second_ok = False
        return lead + self._run(words)

    def _authenticate(self, token: str) -> str:
        if not token:
            return "KO: missing authentication token\r\n"
        if self._token and not hmac.compare_digest(token.encode(), self._token.encode()):
            return f"KO: authentication token does not match ~/{TOKEN_FILE}\r\n"
        self._trusted = True
        return _PROMPT

    def _run(self, words: list[str]) -> str:
        if not words:
            return ""
        if words[0] in ("quit", "exit"):
            self.over = True
            return ""
        if words[0] == "avd":
            named = words[1:] == ["name"]
            return f"{self._avd_name}\r\nOK\r\n" if named else "KO: bad sub-command\r\n"
        if words[0] == "kill" and self._trusted:
            self.over = self.killed = True
            return "OK: killing emulator, bye bye\r\nOK\r\n"
        return _UNKNOWN
