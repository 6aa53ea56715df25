"""The emulator console."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pytest_clawperator.simulator.wire.adbd import Adbd
from pytest_clawperator.simulator.wire.console import (
    TOKEN_FILE,
    Console,
    listen_as_emulator,
    user_token,
)
from tests.doubles.simulator.adb_hosts import DEADLINE, Adb, MiniDevice, in_loop, real_adb


@asynccontextmanager
async def emulator(
    *, token: str = "", killed: asyncio.Event | None = None
) -> AsyncIterator[tuple[Console, int]]:
    """Run an emulator and give its console with the port."""
    event = killed or asyncio.Event()
    console = Console(avd_name="Pixel_7_API_35", on_kill=event.set, token=lambda: token)
    adbd = Adbd(MiniDevice())
    port = await listen_as_emulator(console, adbd)
    try:
        yield console, port
    finally:
        await console.stop()
        await adbd.stop()


async def send(port: int, text: bytes) -> str:
    """Send everything together and return all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    try:
        return (await asyncio.wait_for(reader.read(), DEADLINE)).decode()
    finally:
        writer.close()
        await writer.wait_closed()


def ask(text: bytes, *, token: str = "") -> str:
    """Ask a console that lives only for this."""

    async def run() -> str:
        async with emulator(token=token) as (_, port):
            return await send(port, text)

    return asyncio.run(run())


async def through_adb(adb: Adb, port: int, *command: str) -> str:
    """Return what the real adb prints for a console command."""
    ended = await adb("-s", f"emulator-{port}", "emu", *command)
    assert ended.code == 0
    return ended.text


@pytest.mark.parametrize(
    ("written", "token"), [("", ""), ("s3cret\n", "s3cret"), ("unexpected", "")]
)
@in_loop
async def test_the_real_adb_prints_the_name(tmp_path: Path, written: str, token: str) -> None:
    """With and without a token of the user, the name is the first line."""
    if written:
        (tmp_path / TOKEN_FILE).write_text(written)
    async with real_adb(tmp_path) as adb, emulator(token=token) as (_, port):
        assert await through_adb(adb, port, "avd", "name") == "Pixel_7_API_35\nOK\n"


@in_loop
async def test_the_real_adb_lists_runs_and_kills_an_emulator(tmp_path: Path) -> None:
    """A registered emulator is a device like others, and ``emu kill`` reaches its owner."""
    killed = asyncio.Event()
    async with real_adb(tmp_path) as adb, emulator(killed=killed) as (_, port):
        serial = await adb.server.register_emulator(port)
        shell = await adb("-s", serial, "shell", "echo", "hi")
        goodbye = await through_adb(adb, port, "kill")
        await asyncio.wait_for(killed.wait(), DEADLINE)

        assert serial == f"emulator-{port}"
        assert shell.stdout == b"hi\n"
        assert goodbye == "OK: killing emulator, bye bye\nOK\n"


@in_loop
async def test_an_emulator_has_two_ports_and_leaves_the_list_when_it_stops(tmp_path: Path) -> None:
    """They are an even one and its neighbour."""
    async with real_adb(tmp_path) as adb:
        async with emulator() as (_, port), emulator() as (_, other):
            assert port % 2 == other % 2 == 0
            assert port != other
            serial = await adb.server.register_emulator(port)
        await adb.until(serial, None)


def test_with_a_token_the_greeting_asks_for_it() -> None:
    """The greeting says how to authenticate and where the token is."""
    text = ask(b"quit\n", token="s3cret")

    assert text.startswith("Android Console: Authentication required\r\n")
    assert f"'{Path.home() / TOKEN_FILE}'\r\nOK\r\n" in text


def test_commands_are_answered_or_refused() -> None:
    """Without the token little is answered, and nothing can be ended."""
    for line, expected in {
        b"auth wrong": f"KO: authentication token does not match ~/{TOKEN_FILE}\r\n",
        b"auth": "KO: missing authentication token\r\n",
        b"kill": "KO: unknown command, try 'help'\r\n",
        b"avd name": "Pixel_7_API_35\r\nOK\r\n",
        b"auth s3cret": "Android Console: type 'help' for a list of commands\r\nOK\r\n",
    }.items():
        assert ask(line + b"\nquit\n", token="s3cret").endswith(expected), line
    for line, expected in {
        b"avd": "KO: bad sub-command",
        b"avd fly": "KO: bad sub-command",
        b"fly": "KO: unknown command, try 'help'",
        b"": "OK",
        b"\xff\xfe": "KO: unknown command, try 'help'",
    }.items():
        assert expected in ask(line + b"\nexit\n"), line


@in_loop
async def test_a_line_without_end_ends_the_session() -> None:
    """One line cannot fill the memory, and others are still served."""
    async with emulator() as (_, port):
        greeting = await send(port, b"x" * 100_000)
        assert greeting.count("OK\r\n") <= 1
        assert "Pixel_7_API_35" in await send(port, b"avd name\nquit\n")


@in_loop
async def test_stopping_ends_open_sessions() -> None:
    """A client that only listens sees the end."""
    async with emulator() as (console, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.wait_for(reader.readuntil(b"OK\r\n"), DEADLINE)
        await console.stop()
        assert await asyncio.wait_for(reader.read(), DEADLINE) == b""
        writer.close()
        await writer.wait_closed()


def test_the_token_is_read_from_the_users_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing or blank file means that there is none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_token() == ""
    (tmp_path / TOKEN_FILE).write_text(" abc \n")
    assert user_token() == "abc"
