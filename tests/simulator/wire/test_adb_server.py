"""The private adb server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_clawperator.errors import AdbUnavailableError, TransportError
from pytest_clawperator.simulator.wire import adb_server
from pytest_clawperator.simulator.wire.adb_server import AdbServer
from pytest_clawperator.transport.adb_program import find_adb
from tests.doubles.simulator.adb_hosts import MiniDevice, in_loop, listening, real_adb

ROOT = Path(__file__).parents[3]

# Starts a server and waits to be killed.
OWNER = """
import asyncio
from pytest_clawperator.simulator.wire.adb_server import AdbServer

async def main():
    server = AdbServer()
    await server.start()
    print(server.port, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let everything temporary be made in a folder of the test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


async def devices(server: AdbServer) -> dict[str, str]:
    """Return the state of each serial that the server lists."""
    rows = (line.split("\t") for line in (await server.ask("host:devices")).splitlines())
    return dict(rows)


async def refused(port: int) -> bool:
    """Whether a port refuses connections."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it ends at this very moment
        return False
    writer.close()
    await writer.wait_closed()
    return False


@in_loop
async def test_it_starts_answers_and_leaves_nothing_behind(temporary: Path) -> None:
    """It knows no devices, refuses in adb's words, can start again, and may be stopped twice."""
    server = AdbServer()
    for _ in range(2):
        await server.start()
        assert int(await server.ask("host:version"), 16) >= 41
        assert await devices(server) == {}
        with pytest.raises(TransportError, match="host:nonsense"):
            await server.ask("host:nonsense")
        await server.stop()
    await server.stop()

    assert await refused(server.port)
    assert list(temporary.iterdir()) == []


# An adb that has an emulator when it starts for the first time, as one that looked too early.
TOO_EARLY = """#!{python}
import os, pathlib, socket, sys
started = pathlib.Path(sys.argv[0]).with_suffix(".started")
if not started.exists():
    started.touch()
    asking = socket.create_connection(socket.socket(fileno=os.dup(3)).getsockname())
    asking.sendall(b"0013host:emulator:{port:05}")
    os.set_inheritable(asking.detach(), True)
os.execv("{adb}", ["{adb}", *sys.argv[1:]])
"""


@in_loop
async def test_an_emulator_of_another_sdk_is_not_kept(tmp_path: Path) -> None:
    """A server that found one at its start is started again."""
    adb = tmp_path / "adb"
    async with listening(MiniDevice()) as (_, port):
        adb.write_text(TOO_EARLY.format(python=sys.executable, port=port, adb=find_adb()))
        adb.chmod(0o755)
        server = AdbServer(adb=adb)
        await server.start()
        try:
            assert await devices(server) == {}
        finally:
            await server.stop()
    assert adb.with_suffix(".started").exists()


class AwaitedServer(AdbServer):
    """A server whose phone somebody else connects as soon as it answers."""

    starts = 0
    phone: int | None = None

    async def _first_answer(self) -> None:
        await super()._first_answer()
        self.starts += 1
        if self.phone is not None:
            await self.connect(self.phone)


@in_loop
async def test_a_phone_that_somebody_waited_for_is_kept() -> None:
    """A server that is started again is not ended for it: whoever has it would lose it."""
    server, stopped, rejoined = AwaitedServer(), asyncio.Event(), asyncio.Event()
    async with listening(MiniDevice()) as (_, port):
        await server.start()
        serial = await server.connect(port)
        server.phone = port

        async def rejoin() -> None:
            rejoined.set()

        kept = asyncio.create_task(server.keep_until(stopped, rejoin=rejoin))
        with contextlib.suppress(EOFError):  # it ends without an answer
            await server.ask("host:kill")
        await asyncio.wait_for(rejoined.wait(), 30)

        assert server.starts == 2
        assert await devices(server) == {serial: "device"}
        stopped.set()
        await kept
        await server.stop()


@in_loop
async def test_a_device_can_join_in_another_state(tmp_path: Path) -> None:
    """Joining does not wait for a device that is not going to be ready."""
    async with real_adb(tmp_path, MiniDevice(state="unauthorized")) as adb:
        assert await devices(adb.server) == {adb.serial: "unauthorized"}


@in_loop
async def test_a_device_that_does_not_come_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the serial and what adb shows instead."""
    monkeypatch.setattr(adb_server, "_JOIN_DEADLINE", 0.2)
    server = AdbServer()
    await server.start()
    try:
        async with listening(MiniDevice(state="unauthorized")) as (_, port):
            with pytest.raises(TransportError, match="unauthorized instead of device") as error:
                await server.connect(port)
        assert error.value.serial == f"127.0.0.1:{port}"
        with pytest.raises(TransportError, match="absent instead of device"):
            await server.register_emulator(port + 1)
    finally:
        await server.stop()


@in_loop
async def test_a_program_that_is_not_adb_is_reported(tmp_path: Path, temporary: Path) -> None:
    """What it said is part of the message, and nothing stays behind."""
    program = tmp_path / "adb"
    program.write_text("#!/bin/sh\necho 'I am not adb' >&2\nexit 3\n")
    program.chmod(0o755)

    with pytest.raises(AdbUnavailableError, match="I am not adb") as error:
        await AdbServer(adb=program).start()

    assert "ADB_PATH" in str(error.value.hint)
    assert list(temporary.iterdir()) == []


@in_loop
async def test_the_users_settings_for_adb_do_not_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environment variables that direct adb elsewhere are not passed on."""
    monkeypatch.setenv("ANDROID_SERIAL", "another")
    monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:localhost:1")
    monkeypatch.setenv("ADB_TRACE", "all")
    async with real_adb(tmp_path, MiniDevice()) as adb:
        assert (await adb("shell", "echo", "hi")).stdout == b"hi\n"


@in_loop
async def test_it_ends_with_the_process_that_started_it(temporary: Path) -> None:
    """A signal to the owner's group does not reach it; kill -9 of the owner ends it."""
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OWNER),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
        start_new_session=True,
    )
    assert owner.stdout is not None
    port = int(await owner.stdout.readline())
    os.killpg(owner.pid, signal.SIGSTOP)
    # The owner's whole group stands still, and the server answers all the same.
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"0012host:track-devices")
    assert await reader.readexactly(8) == b"OKAY0000"
    assert len(list(temporary.iterdir())) == 1
    os.killpg(owner.pid, signal.SIGKILL)
    await owner.wait()
    # The tracking connection ends exactly when the server does.
    with contextlib.suppress(ConnectionResetError):
        assert await reader.read() == b""
    writer.close()
    while list(temporary.iterdir()):
        await asyncio.sleep(0.01)

    assert await refused(port)


def watcher_of(home: Path) -> int:
    """Return the process that watches the server with this folder."""
    listed = subprocess.run(
        ["ps", "-wweo", "pid=,args="], capture_output=True, text=True, check=True
    )
    [row] = [row for row in listed.stdout.splitlines() if f"adb-watcher {home} " in row]
    return int(row.split()[0])


@in_loop
async def test_a_server_whose_watcher_is_killed_is_replaced(temporary: Path) -> None:
    """The new one has the same port, and a stop leaves nothing behind."""
    server, stopped, rejoined = AdbServer(), asyncio.Event(), asyncio.Event()
    await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"0012host:track-devices")
    assert await reader.readexactly(8) == b"OKAY0000"

    async def rejoin() -> None:
        rejoined.set()

    kept = asyncio.create_task(server.keep_until(stopped, rejoin=rejoin))
    [home] = temporary.iterdir()
    os.kill(watcher_of(home), signal.SIGKILL)
    await rejoined.wait()
    with contextlib.suppress(ConnectionResetError):
        await reader.read()  # to its end, which comes when the old server ends
    writer.close()
    assert await devices(server) == {}

    stopped.set()
    await kept
    await server.stop()
    assert await refused(server.port)
    assert list(temporary.iterdir()) == []
