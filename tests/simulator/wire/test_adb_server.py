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
from tests.doubles.simulator.adb_hosts import DEADLINE, MiniDevice, in_loop, listening, real_adb

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
    """Let everything temporary be made in a folder that the test can look at."""
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
    """Whether nobody listens on a port."""
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
async def test_it_answers_on_its_own_port_and_knows_no_devices() -> None:
    """Whatever is connected to this computer, the private server does not see it."""
    server = AdbServer()
    await server.start()
    try:
        assert int(await server.ask("host:version"), 16) >= 41
        assert await devices(server) == {}
    finally:
        await server.stop()


@in_loop
async def test_stopping_leaves_nothing_behind(temporary: Path) -> None:
    """Port, files and the process that watches are gone; stopping twice is fine."""
    server = AdbServer()
    await server.start()
    await server.stop()
    await server.stop()

    assert await refused(server.port)
    assert list(temporary.iterdir()) == []


@in_loop
async def test_it_can_start_again() -> None:
    """A stopped server starts anew."""
    server = AdbServer()
    for _ in range(2):
        await server.start()
        assert await devices(server) == {}
        await server.stop()


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


def test_an_emulator_of_another_sdk_is_not_kept(tmp_path: Path) -> None:
    """A server that found one at its start is started again."""
    adb = tmp_path / "adb"

    async def run() -> None:
        async with listening(MiniDevice()) as (_, port):
            adb.write_text(TOO_EARLY.format(python=sys.executable, port=port, adb=find_adb()))
            adb.chmod(0o755)
            server = AdbServer(adb=adb)
            await server.start()
            try:
                assert await devices(server) == {}
            finally:
                await server.stop()

    asyncio.run(run())
    assert adb.with_suffix(".started").exists()


@in_loop
async def test_two_run_side_by_side(tmp_path: Path) -> None:
    """Each sees only its own device."""
    async with real_adb(tmp_path, MiniDevice()) as one, real_adb(tmp_path, MiniDevice()) as two:
        assert one.server.port != two.server.port
        assert await devices(one.server) == {one.serial: "device"}
        assert await devices(two.server) == {two.serial: "device"}


@pytest.mark.parametrize("state", ["unauthorized", "offline"])
@in_loop
async def test_a_device_can_join_in_another_state(tmp_path: Path, state: str) -> None:
    """Joining does not wait for a device that is not going to be ready."""
    device = MiniDevice(state="unauthorized" if state == "unauthorized" else "offline")
    async with real_adb(tmp_path, device) as adb:
        assert await devices(adb.server) == {adb.serial: state}


def test_a_device_that_does_not_come_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the serial and what adb shows instead."""
    monkeypatch.setattr(adb_server, "_JOIN_DEADLINE", 0.2)

    async def run() -> None:
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

    asyncio.run(run())


def test_a_program_that_is_no_adb_is_reported(tmp_path: Path, temporary: Path) -> None:
    """What it said is part of the message, and nothing stays behind."""
    program = tmp_path / "adb"
    program.write_text("#!/bin/sh\necho 'I am not adb' >&2\nexit 3\n")
    program.chmod(0o755)

    async def run() -> None:
        with pytest.raises(AdbUnavailableError, match="I am not adb") as error:
            await AdbServer(adb=program).start()
        assert "ADB_PATH" in str(error.value.hint)

    asyncio.run(run())
    assert list(temporary.iterdir()) == []


@in_loop
async def test_a_request_that_adb_refuses_is_an_error() -> None:
    """The server's own words are in the message."""
    server = AdbServer()
    await server.start()
    try:
        with pytest.raises(TransportError, match="host:nonsense"):
            await server.ask("host:nonsense")
    finally:
        await server.stop()


def test_the_users_settings_for_adb_do_not_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environment variables that direct adb elsewhere are not passed on."""
    monkeypatch.setenv("ANDROID_SERIAL", "somebody")
    monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:localhost:1")
    monkeypatch.setenv("ADB_TRACE", "all")

    async def run() -> None:
        async with real_adb(tmp_path, MiniDevice()) as adb:
            assert (await adb("shell", "echo", "hi")).stdout == b"hi\n"

    asyncio.run(run())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_process_that_started_it(temporary: Path, how: signal.Signals) -> None:
    """Even kill -9 of its owner ends the server and removes its files."""

    async def run() -> None:
        owner = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", OWNER),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
        )
        assert owner.stdout is not None
        try:
            port = int(await asyncio.wait_for(owner.stdout.readline(), DEADLINE))
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"0012host:track-devices")
            assert await reader.readexactly(8) == b"OKAY0000"
            assert len(list(temporary.iterdir())) == 1
        finally:
            owner.send_signal(how)
            await owner.wait()
        # The tracking connection ends exactly when the server does.
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), DEADLINE) == b""
        writer.close()
        while list(temporary.iterdir()):
            await asyncio.sleep(0.01)

        assert await refused(port)

    async def limited() -> None:
        await asyncio.wait_for(run(), DEADLINE)

    asyncio.run(limited())


def test_a_signal_to_the_terminals_group_does_not_reach_it() -> None:
    """The server is in a session of its own, so Ctrl-C is the simulator's to handle."""

    async def run() -> None:
        owner = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", OWNER),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        assert owner.stdout is not None
        port = int(await asyncio.wait_for(owner.stdout.readline(), DEADLINE))
        os.killpg(owner.pid, signal.SIGSTOP)
        # The owner's whole group stands still, and the server answers all the same.
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"000chost:version")
        assert await asyncio.wait_for(reader.readexactly(4), DEADLINE) == b"OKAY"
        writer.close()
        os.killpg(owner.pid, signal.SIGKILL)
        await owner.wait()
        while not await refused(port):
            await asyncio.sleep(0.01)

    async def limited() -> None:
        await asyncio.wait_for(run(), DEADLINE)

    asyncio.run(limited())


def watcher_of(home: Path) -> int:
    """Return the process that watches the server with this folder."""
    listed = subprocess.run(
        ["ps", "-wweo", "pid=,args="], capture_output=True, text=True, check=True
    )
    [row] = [row for row in listed.stdout.splitlines() if f"adb-watcher {home} " in row]
    return int(row.split()[0])


def test_a_server_whose_watcher_is_killed_is_replaced(temporary: Path) -> None:
    """Nobody would end it; the new one has the same port, and a stop leaves nothing behind."""

    async def run() -> None:
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
            assert await reader.read() == b""  # which comes when the old server ends
        writer.close()
        assert await devices(server) == {}

        stopped.set()
        await kept
        await server.stop()
        assert await refused(server.port)
        assert list(temporary.iterdir()) == []

    async def limited() -> None:
        await asyncio.wait_for(run(), DEADLINE)

    asyncio.run(limited())
