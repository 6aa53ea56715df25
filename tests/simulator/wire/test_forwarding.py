"""``adb reverse`` and ``adb forward``, asked for by the real adb and by raw bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.doubles.simulator.adb_hosts import (
    DEADLINE,
    Adb,
    MiniDevice,
    greeted,
    in_loop,
    listening,
    pattern,
    raw_host,
    real_adb,
)


@asynccontextmanager
async def echo_server() -> AsyncIterator[int]:
    """Run a server on the host that sends everything back, and yield its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def echoed(port: int, data: bytes) -> bytes:
    """Send bytes to a port of the host and return as many of those that come back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        return await asyncio.wait_for(reader.readexactly(len(data)), DEADLINE)
    finally:
        writer.close()


async def until_closed(port: int) -> bytes:
    """Connect to a port of the host, say nothing, and return all that comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await asyncio.wait_for(reader.read(), DEADLINE)
    finally:
        writer.close()


async def forwarded(adb: Adb, remote: str) -> int:
    """Forward a port of the host to the phone, and return it."""
    said = await adb("-s", adb.serial, "forward", "tcp:0", remote)
    assert said.code == 0, said.text
    return int(said.text)


@pytest.mark.parametrize("name", ["tcp:8080", "localabstract:a name"])
@in_loop
async def test_bytes_go_through_the_phone_and_back(tmp_path: Path, name: str) -> None:
    """What is forwarded to a socket that is reversed arrives at the host's server, unchanged."""
    data = pattern(3_000_000)
    async with echo_server() as server, real_adb(tmp_path, MiniDevice()) as adb:
        reverse = await adb("reverse", name, f"tcp:{server}")
        port = await forwarded(adb, name)
        got = await asyncio.gather(*(echoed(port, data[each:]) for each in range(4)))

        assert reverse.code == 0, reverse.text
        assert [one == data[each:] for each, one in enumerate(got)] == [True] * 4


@in_loop
async def test_the_real_adb_lists_and_ends_what_it_reversed(tmp_path: Path) -> None:
    """A reversed socket is listed until it is ended, one by one or all."""
    async with real_adb(tmp_path, MiniDevice()) as adb:
        await adb("reverse", "tcp:8080", "tcp:9000")
        await adb("reverse", "localabstract:web", "tcp:9001")
        listed = await adb("reverse", "--list")
        ended = await adb("reverse", "--remove", "tcp:8080")
        again = await adb("reverse", "--remove", "tcp:8080")
        left = await adb("reverse", "--list")
        await adb("reverse", "--remove-all")
        none = await adb("reverse", "--list")

        rows = [row.split()[1:] for row in listed.text.split("\n") if row]
        assert rows == [["tcp:8080", "tcp:9000"], ["localabstract:web", "tcp:9001"]]
        assert ended.code == 0
        assert (again.code, again.text) == (1, "adb: error: listener 'tcp:8080' not found\n")
        assert "tcp:8080" not in left.text
        assert "localabstract:web" in left.text
        assert none.text.strip() == ""


@in_loop
async def test_a_socket_is_rebound_unless_that_is_forbidden(tmp_path: Path) -> None:
    """With ``--no-rebind`` the first one stays; for ``tcp:0`` the phone chooses a port."""
    async with real_adb(tmp_path, MiniDevice()) as adb:
        await adb("reverse", "tcp:8080", "tcp:1")
        rebound = await adb("reverse", "tcp:8080", "tcp:2")
        refused = await adb("reverse", "--no-rebind", "tcp:8080", "tcp:3")
        listed = await adb("reverse", "--list")
        chosen = [int((await adb("reverse", "tcp:0", "tcp:1")).text) for _ in range(2)]

        assert rebound.code == 0
        assert (refused.code, "cannot rebind existing socket" in refused.text) == (1, True)
        assert listed.text.split()[1:] == ["tcp:8080", "tcp:2"]
        assert chosen[0] != chosen[1]


@in_loop
async def test_what_does_not_name_a_socket_is_refused() -> None:
    """The message quotes what was asked for."""
    async with greeted(MiniDevice()) as host:
        for name in ("tcp:65536", "tcp:x", "tcp:10.0.0.1:80", "udp:5", "localabstract:"):
            await host.open(f"reverse:forward:{name};tcp:1")
            answer = (await host.next()).payload
            assert (await host.next()).command == "CLSE"

            assert answer[:4] == b"FAIL"
            assert int(answer[4:8], 16) == len(answer) - 8
            assert name.encode() in answer


@in_loop
async def test_a_socket_where_nothing_listens_closes_the_connection(tmp_path: Path) -> None:
    """A client of a forwarded port gets the end immediately, from the phone or from the host."""
    async with echo_server() as free:
        pass
    async with real_adb(tmp_path, MiniDevice()) as adb:
        nothing = await forwarded(adb, "tcp:8080")
        await adb("reverse", "tcp:8081", f"tcp:{free}")
        no_server = await forwarded(adb, "tcp:8081")

        assert await until_closed(nothing) == b""
        assert await until_closed(no_server) == b""


@in_loop
async def test_sockets_end_with_the_connection_of_their_host() -> None:
    """A phone listens for a host as long as that is connected, and only for that one."""
    device = MiniDevice()
    async with listening(device) as (_, port), raw_host(port) as stays:
        await stays.greet()
        await stays.open("reverse:forward:tcp:1;tcp:11")
        async with raw_host(port) as goes:
            await goes.greet()
            await goes.open("reverse:forward:tcp:2;tcp:12")
            both = [each.name for each in device.sockets.listeners()]
        async with raw_host(port) as later:
            await later.greet()
            left = [each.name for each in device.sockets.listeners()]

        assert (both, left) == (["tcp:1", "tcp:2"], ["tcp:1"])


@in_loop
async def test_a_host_that_refuses_is_a_refused_connection() -> None:
    """The phone opens a stream to the host, which closes it instead of accepting it."""
    device = MiniDevice()
    async with greeted(device) as host:
        await host.open("reverse:forward:tcp:1;tcp:11")
        await host.next(), await host.next()
        dialling = asyncio.create_task(device.sockets.connect("tcp:1"))
        asked = await host.next()
        host.send("CLSE", 0, asked.arg0)

        assert (asked.command, asked.arg1, asked.payload) == ("OPEN", 0, b"tcp:11\0")
        with pytest.raises(ConnectionRefusedError, match="tcp:11"):
            await asyncio.wait_for(dialling, DEADLINE)
