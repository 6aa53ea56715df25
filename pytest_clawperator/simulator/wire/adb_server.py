"""A private adb server that ends with the process that started it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from pytest_clawperator.errors import AdbUnavailableError, TransportError
from pytest_clawperator.transport.adb_program import find_adb

HOST = "127.0.0.1"
_START_DEADLINE = 10.0
_JOIN_DEADLINE = 10.0
_STOP_DEADLINE = 5.0
_MAX_ANSWER = 1024 * 1024
# Now and then adb looks for emulators before it has read the variable that forbids it, and then
# has one of another SDK.
_MORE_STARTS = 20
# Runs adb beside it and waits for the end of its standard input, which comes however the
# simulator ends. The listening socket arrives as standard output and goes to adb as 3.
_WATCHER = """
home=$1; shift
"$@" 3>&1 >/dev/null </dev/null &
server=$!
exec >/dev/null 2>&1
while read -r _; do :; done
kill -9 "$server"
wait "$server"
rm -rf -- "${home:?}"
"""

State = Literal["device", "offline", "unauthorized"]


class AdbServer:
    """An adb server that sees no USB, no network and no real emulator, on a private port."""

    def __init__(self, *, adb: Path | None = None) -> None:
        self.port = 0
        self._adb = adb
        self._socket: socket.socket | None = None
        self._home: Path | None = None
        self._watcher: asyncio.subprocess.Process | None = None
        self._complaints: deque[str] = deque(maxlen=5)
        self._listener: asyncio.Task[None] | None = None
        self._restarting = asyncio.Lock()
        self._ours: set[str] = set()

    async def start(self) -> None:
        """Start the server and return when it answers."""
        if os.name == "nt":
            raise AdbUnavailableError(
                "the simulator's own adb server needs Linux or macOS",
                hint="Run it on one of these, for example in WSL.",
            )
        # Bound here, kept and handed over, so that no other process can take the port in between.
        self._socket = socket.socket()
        self._socket.bind((HOST, 0))
        self._socket.listen(128)
        self.port = self._socket.getsockname()[1]
        await self._serve_alone(self._socket)

    async def _serve_alone(self, listener: socket.socket) -> None:
        """Start the server, and once more whenever it has an emulator that is not ours.

        After a restart somebody who waited for a phone may have connected it already.
        """
        for _ in range(_MORE_STARTS):
            await self._serve(listener)
            if _states(await self.ask("host:devices")).keys() <= self._ours:
                return
            await self._end()
        await self._serve(listener)

    async def _restart(self) -> None:
        """Start the server again on the same port; requests sent meanwhile waited."""
        assert self._socket is not None
        await self._end()
        await self._serve_alone(self._socket)

    async def keep_until(
        self, stopped: asyncio.Event, *, rejoin: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """Start the server again whenever it ends, until ``stopped``; raise if that fails.

        ``rejoin`` connects the phones again.
        """
        keeper = asyncio.create_task(self._keep(rejoin))
        keeper.add_done_callback(lambda _: stopped.set())
        try:
            await stopped.wait()
        finally:
            async with self._restarting:  # a restart that was cut off would leave its processes
                keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeper

    async def _keep(self, rejoin: Callable[[], Awaitable[object]] | None) -> None:
        while True:
            assert self._listener is not None
            assert self._watcher is not None
            # A server whose watcher was killed is ended here, because nothing else would end it.
            watching = asyncio.create_task(_end_without(self._watcher))
            try:
                # The listener ends with the server: it alone writes to its standard error.
                await asyncio.wait({self._listener, watching}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                watching.cancel()
            async with self._restarting:
                await self._restart()
            if rejoin is not None:
                await rejoin()

    async def _serve(self, listener: socket.socket) -> None:
        adb = (self._adb or find_adb()).absolute()
        try:
            self._home = _make_home()
            await self._launch(adb, self._home, listener)
            await asyncio.wait_for(self._first_answer(), _START_DEADLINE)
        except (OSError, EOFError, TransportError, asyncio.TimeoutError) as error:
            await self.stop()
            said = "; ".join(self._complaints) or str(error) or "nothing"
            raise AdbUnavailableError(
                f"{adb} did not start as a server; it said: {said}",
                hint="Set ADB_PATH to an adb program of Android's platform-tools 30 or newer.",
            ) from error

    async def _first_answer(self) -> None:
        """Wait until the server answers; EOFError as soon as its program ends instead."""
        assert self._listener is not None
        asking = asyncio.create_task(self.ask("host:version"))
        try:
            await asyncio.wait({asking, self._listener}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise EOFError
            await asking
        finally:
            asking.cancel()

    async def stop(self) -> None:
        """End the server, and leave no process and no file behind."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        await self._end()

    async def _end(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            assert watcher.stdin is not None
            watcher.stdin.close()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(watcher.wait(), _STOP_DEADLINE)
            if watcher.returncode != 0:  # it hangs, or was killed and did not end the server
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(watcher.pid, signal.SIGKILL)
                await watcher.wait()
        if self._listener is not None:
            await self._listener
            self._listener = None
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)
            self._home = None

    async def connect(self, port: int, *, state: State = "device") -> str:
        """Connect to a phone's adbd and return its serial once it is in ``state``."""
        serial = f"{HOST}:{port}"
        await self._join(f"host:connect:{serial}", serial, state)
        return serial

    async def connect_by_name(
        self, name: str, listen: Callable[[Path], Awaitable[None]], *, state: State = "device"
    ) -> str:
        """Connect to an adbd that is known by a name; return its serial, which ends in the name.

        adb calls a phone by another name than an address if it finds it by multicast DNS, which
        leaves the machine, or on a Unix socket. ``listen`` is given the path of the latter.
        """
        assert self._home is not None
        await listen(self._home / name)
        serial = f"localfilesystem:{name}"  # the server's folder is that of the socket
        await self._join(f"host:connect:{serial}", serial, state)
        return serial

    async def register_emulator(self, console_port: int, *, state: State = "device") -> str:
        """Register an emulator by its console port; return its serial once it is in ``state``."""
        serial = f"emulator-{console_port}"
        await self._join(f"host:emulator:{console_port + 1}", serial, state)
        return serial

    async def ask(self, request: str) -> str:
        """Send a ``host:`` request and return the answer."""
        reader, writer = await self._request(request)
        try:
            await _require_okay(reader, request)
            return await _text(reader)
        finally:
            await _close(writer)

    async def _launch(self, adb: Path, home: Path, listener: socket.socket) -> None:
        self._complaints.clear()
        self._watcher = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", _WATCHER, "adb-watcher", str(home)),
            *(str(adb), "-L", "acceptfd:3", "--one-device", "none", "server", "nodaemon"),
            stdin=asyncio.subprocess.PIPE,
            stdout=listener.fileno(),
            stderr=asyncio.subprocess.PIPE,
            env=_environment(home),
            cwd=home,
            # A Ctrl-C in the terminal is for the simulator, which then ends the server.
            start_new_session=True,
        )
        assert self._watcher.stderr is not None
        self._listener = asyncio.create_task(self._listen(self._watcher.stderr))

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        tail = b""
        while data := await stderr.read(65536):
            *lines, tail = (tail + data).split(b"\n")
            self._complaints.extend(line.decode("utf-8", "replace") for line in lines[-5:])
            tail = tail[-1000:]

    async def _join(self, request: str, serial: str, state: State) -> None:
        self._ours.add(serial)
        tracker, tracking = await self._request("host:track-devices")
        _, asking = await self._request(request)
        states: dict[str, str] = {}

        async def listed() -> None:
            nonlocal states
            await _require_okay(tracker, "host:track-devices")
            while states.get(serial) != state:
                states = _states(await _text(tracker))

        try:
            await asyncio.wait_for(listed(), _JOIN_DEADLINE)
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            found = states.get(serial, "absent")
            raise TransportError(
                f"adb shows the simulated device as {found} instead of {state}",
                serial=serial,
                hint="Start the simulator again; if it stays so, set ADB_PATH to another adb.",
            ) from error
        finally:
            await _close(tracking)
            await _close(asking)

    async def _request(self, request: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(HOST, self.port)
        data = request.encode()
        writer.write(b"%04x" % len(data) + data)
        return reader, writer


async def _end_without(watcher: asyncio.subprocess.Process) -> None:
    """End what the watcher started, once the watcher itself is gone.

    Its standard input shows it: the watcher alone has that, while the server keeps the rest open.
    """
    assert watcher.stdin is not None
    with contextlib.suppress(OSError):
        await asyncio.shield(watcher.stdin.wait_closed())
    with contextlib.suppress(ProcessLookupError):
        os.killpg(watcher.pid, signal.SIGKILL)


def _make_home() -> Path:
    home = Path(tempfile.mkdtemp(prefix="clawperator-adb-"))
    # An unusable key keeps adb from making one, which takes ten times as long as all the
    # rest of its start. Simulated devices never ask for one.
    (home / ".android").mkdir()
    (home / ".android" / "adbkey").touch()
    return home


def _environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "ADB_LIBUSB": "0",
        "ADB_MDNS": "0",
        "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554",
    }


def _states(text: str) -> dict[str, str]:
    rows = (line.partition("\t") for line in text.splitlines())
    return {serial: state for serial, _, state in rows if state}


async def _require_okay(reader: asyncio.StreamReader, request: str) -> None:
    if await reader.readexactly(4) != b"OKAY":
        raise TransportError(f"adb refused {request!r}: {await _text(reader)}")


async def _text(reader: asyncio.StreamReader) -> str:
    try:
        length = int(await reader.readexactly(4), 16)
    except ValueError:
        raise EOFError from None
    return (await reader.readexactly(min(length, _MAX_ANSWER))).decode("utf-8", "replace")


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
