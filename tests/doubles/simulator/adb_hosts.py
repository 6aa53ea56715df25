"""A minimal device and two kinds of host for the tests of the wire: raw bytes and real adb."""

from __future__ import annotations

import asyncio
import functools
import os
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, ParamSpec

from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.wire.adb_server import AdbServer
from pytest_clawperator.simulator.wire.adbd import FEATURES, Adbd
from pytest_clawperator.simulator.wire.forwarding import Sockets, serve_forward
from pytest_clawperator.simulator.wire.stream import ServiceRefused, Stream, StreamClosed
from pytest_clawperator.simulator.wire.sync import serve_sync
from pytest_clawperator.transport.adb_program import find_adb

DEADLINE = 30.0
_HEADER = struct.Struct("<6I")

Service = Callable[[str, Stream], Awaitable[None]]
_Arguments = ParamSpec("_Arguments")


def in_loop(test: Callable[_Arguments, Coroutine[Any, Any, None]]) -> Callable[_Arguments, None]:
    """Run an asynchronous test in an event loop of its own."""

    @functools.wraps(test)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), DEADLINE))

    return run


@dataclass
class MiniDevice:
    """Serves sync, a few shell commands, and whatever a test adds by the destination's kind."""

    services: dict[str, Service] = field(default_factory=dict)
    state: Literal["device", "offline", "unauthorized"] = "device"
    banner: str = "ro.product.name=mini;ro.product.model=Mini Phone;ro.product.device=mini1"
    features: tuple[str, ...] = FEATURES
    files: FileSystem = field(default_factory=lambda: FileSystem(clock=lambda: 1_700_000_000.0))
    sockets: Sockets = field(default_factory=Sockets)
    admitted: asyncio.Event = field(default_factory=asyncio.Event)

    def admission(self) -> Literal["device", "offline", "unauthorized"]:
        """Return the state that the test has set, and signal that a host has come."""
        self.admitted.set()
        return self.state

    async def serve(self, destination: str, stream: Stream) -> None:
        """Run the service of this kind, one of the test's own first."""
        kind, _, argument = destination.partition(":")
        if kind in self.services:
            await self.services[kind](argument, stream)
        elif kind in ("tcp", "localabstract"):
            await serve_forward(destination, stream, self.sockets)
        elif kind == "sync":
            await serve_sync(stream, self.files)
        elif kind == "exec":
            await run_command(argument, stream.read, stream.write)
        elif kind.startswith("shell,v2"):
            await _shell_v2(argument, stream)
        else:
            raise ServiceRefused


async def run_command(
    command: str,
    read: Callable[[], Awaitable[bytes]],
    write: Callable[[bytes], Awaitable[None]],
) -> None:
    """Run ``echo TEXT``, ``big SIZE`` or ``cat``."""
    name, _, argument = command.partition(" ")
    if name == "echo":
        await write(argument.encode() + b"\n")
    elif name == "big":
        await write(pattern(int(argument)))
    elif name == "cat":
        while data := await read():
            await write(data)


async def echo(_: str, stream: Stream) -> None:
    """Send everything back until the host closes."""
    while data := await stream.read():
        try:
            await stream.write(data)
        except StreamClosed:
            return


def pattern(size: int) -> bytes:
    """Return bytes in which a lost or swapped piece shows."""
    unit = b"".join(struct.pack("<I", number) for number in range(65536))
    return (unit * (size // len(unit) + 1))[:size]


async def _shell_v2(command: str, stream: Stream) -> None:
    received = bytearray()

    async def read() -> bytes:
        while True:
            while len(received) < 5 or len(received) < 5 + int.from_bytes(received[1:5], "little"):
                data = await stream.read()
                if not data:
                    return b""
                received.extend(data)
            size = int.from_bytes(received[1:5], "little")
            kind, payload = received[0], bytes(received[5 : 5 + size])
            del received[: 5 + size]
            if kind == 0:
                return payload
            if kind == 4:
                return b""

    async def write(data: bytes) -> None:
        await stream.write(struct.pack("<BI", 1, len(data)) + data)

    await run_command(command, read, write)
    await stream.write(struct.pack("<BIB", 3, 1, 7))


class Message(NamedTuple):
    """One message of the adb protocol."""

    command: str
    arg0: int
    arg1: int
    payload: bytes = b""

    def packed(self, *, checksum: int | None = None) -> bytes:
        """Return its bytes, with the right checksum unless another one is given."""
        command = int.from_bytes(self.command.encode(), "little")
        total = sum(self.payload) if checksum is None else checksum
        size = len(self.payload)
        header = _HEADER.pack(command, self.arg0, self.arg1, size, total, command ^ 0xFFFFFFFF)
        return header + self.payload


class RawHost:
    """A host made of single messages."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.checksums: list[int] = []

    def send(self, command: str, arg0: int, arg1: int, payload: bytes = b"") -> None:
        """Send one message."""
        self.writer.write(Message(command, arg0, arg1, payload).packed())

    async def next(self) -> Message:
        """Return the next message of the device."""
        header = await asyncio.wait_for(self.reader.readexactly(24), DEADLINE)
        command, arg0, arg1, size, checksum, magic = _HEADER.unpack(header)
        assert magic == command ^ 0xFFFFFFFF
        payload = await asyncio.wait_for(self.reader.readexactly(size), DEADLINE)
        self.checksums.append(checksum)
        return Message(command.to_bytes(4, "little").decode(), arg0, arg1, payload)

    async def rest(self) -> bytes:
        """Return everything until the device ends the connection."""
        try:
            return await asyncio.wait_for(self.reader.read(), DEADLINE)
        except ConnectionError:
            return b""

    async def greet(self, *, version: int = 0x01000001, max_payload: int = 1 << 20) -> Message:
        """Connect as adb does and return the answer."""
        self.send("CNXN", version, max_payload, b"host::features=shell_v2")
        return await self.next()

    async def open(self, destination: str, *, number: int = 1) -> int:
        """Open a stream and return the device's number for it."""
        self.send("OPEN", number, 0, destination.encode() + b"\0")
        answer = await self.next()
        assert (answer.command, answer.arg1) == ("OKAY", number)
        return answer.arg0

    async def close(self) -> None:
        """Drop the connection."""
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()


@asynccontextmanager
async def listening(device: MiniDevice) -> AsyncIterator[tuple[Adbd, int]]:
    """Run adbd for a device and yield it with its port."""
    adbd = Adbd(device)
    port = await adbd.start()
    try:
        yield adbd, port
    finally:
        await adbd.stop()


@asynccontextmanager
async def raw_host(port: int) -> AsyncIterator[RawHost]:
    """Connect raw bytes to a port."""
    host = RawHost(*await asyncio.open_connection("127.0.0.1", port))
    try:
        yield host
    finally:
        await host.close()


@asynccontextmanager
async def greeted(device: MiniDevice) -> AsyncIterator[RawHost]:
    """Connect raw bytes to a device that listens for this only, and exchange greetings."""
    async with listening(device) as (_, port), raw_host(port) as host:
        await host.greet()
        yield host


class Finished(NamedTuple):
    """How an adb command ended."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Both outputs."""
        return (self.stdout + self.stderr).decode("utf-8", "replace").replace("\r\n", "\n")


@dataclass
class Adb:
    """The real adb program, talking to a private server."""

    server: AdbServer
    home: Path
    serial: str = ""

    async def __call__(self, *args: str, stdin: bytes = b"") -> Finished:
        """Run one adb command."""
        process = await asyncio.create_subprocess_exec(
            str(find_adb()),
            *("-P", str(self.server.port)),
            *args,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home)},
        )
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(stdin), DEADLINE)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return Finished(process.returncode, stdout, stderr)

    async def until(self, serial: str, state: str | None) -> None:
        """Wait until adb shows a device in this state; None is not at all."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        writer.write(b"0012host:track-devices")
        try:
            async with _deadline():
                assert await reader.readexactly(4) == b"OKAY"
                while True:
                    size = int(await reader.readexactly(4), 16)
                    rows = (await reader.readexactly(size)).decode().splitlines()
                    if dict(row.split("\t") for row in rows).get(serial) == state:
                        return
        finally:
            writer.close()
            await writer.wait_closed()


@asynccontextmanager
async def _deadline() -> AsyncIterator[None]:
    task = asyncio.current_task()
    assert task is not None
    timer = asyncio.get_running_loop().call_later(DEADLINE, task.cancel)
    try:
        yield
    finally:
        timer.cancel()


@asynccontextmanager
async def real_adb(home: Path, device: MiniDevice | None = None) -> AsyncIterator[Adb]:
    """Run a private adb server, with one device connected to it if one is given."""
    server = AdbServer()
    await server.start()
    try:
        adb = Adb(server, home)
        if device is None:
            yield adb
            return
        async with listening(device) as (_, port):
            adb.serial = await server.connect(port, state=device.state)
            yield adb
    finally:
        await server.stop()


async def soon(event: asyncio.Event) -> None:
    """Wait for something that must happen."""
    await asyncio.wait_for(event.wait(), DEADLINE)


async def collect(host: RawHost, local: int, *, number: int = 1) -> list[bytes]:
    """Acknowledge what a stream sends until the device closes it; return the pieces."""
    pieces = []
    while (message := await host.next()).command != "CLSE":
        assert message.command == "WRTE"
        pieces.append(message.payload)
        host.send("OKAY", number, local)
    return pieces
