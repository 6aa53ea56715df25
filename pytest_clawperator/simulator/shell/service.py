"""adbd's shell services: a command or a session of commands, with its streams on the wire."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from pytest_clawperator.simulator.shell.runner import run_input, run_script
from pytest_clawperator.simulator.shell.shell import Shell
from pytest_clawperator.simulator.shell.streams import BrokenPipe, Output, Pipe, encode
from pytest_clawperator.simulator.wire.stream import ServiceRefused, Stream, StreamClosed

_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)
_PACKET = struct.Struct("<BI")
_MAX_PACKET = 64 * 1024
# What the host may send ahead of a command that does not read; the rest waits on the wire.
_UNREAD = 1024 * 1024
# The kernel starts no program with an argument as long as this.
_MAX_ARGUMENT = 128 * 1024
_CANNOT_EXECUTE = 126
# How long a command that was just reading may take to make use of what it read.
_GRACE_SECONDS = 1.0
# What a terminal sends for Ctrl-C and Ctrl-D.
_INTERRUPT, _END = b"\x03", b"\x04"
_INTERRUPTED = 128 + 2


class ShellRequest(NamedTuple):
    """What a host asks for: a command, and the kind of connection for it."""

    command: str
    protocol: bool
    terminal: bool


def parse_request(destination: str) -> ShellRequest:
    """Parse the name of a shell service, such as ``shell,v2,TERM=xterm,raw:ls``."""
    service, colon, command = destination.partition(":")
    kind, *words = service.split(",")
    if not colon or kind not in ("shell", "exec") or (kind == "exec" and words):
        raise ServiceRefused(destination)
    command = command.partition("\0")[0]
    terminal = kind == "shell" and not command
    for word in words:
        if word in ("raw", "pty"):
            terminal = word == "pty"
    return ShellRequest(command, "v2" in words, terminal)


async def serve_shell(destination: str, stream: Stream, make_shell: Callable[[], Shell]) -> None:
    """Run a command, or those that come over the wire; the host's close ends everything."""
    request = parse_request(destination)
    if len(encode(request.command)) >= _MAX_ARGUMENT:
        await _refuse(request, stream)
        return
    await _Conversation(request, stream, make_shell()).run()


async def _refuse(request: ShellRequest, stream: Stream) -> None:
    text = b"error: exec '/system/bin/sh' failed: Argument list too long\n"
    if request.protocol:
        text = _packet(_STDERR, text) + _packet(_EXIT, bytes([_CANNOT_EXECUTE]))
    await stream.write(text)


def _packet(kind: int, data: bytes) -> bytes:
    if len(data) <= _MAX_PACKET:
        return _PACKET.pack(kind, len(data)) + data
    pieces = (data[at : at + _MAX_PACKET] for at in range(0, len(data), _MAX_PACKET))
    return b"".join(_PACKET.pack(kind, len(piece)) + piece for piece in pieces)


class _HostOutput:
    """An output of the shell that goes to the host, in packets if they have a kind."""

    def __init__(self, stream: Stream, kind: int | None) -> None:
        self._stream = stream
        self._kind = kind

    async def write(self, data: bytes) -> None:
        """Send bytes."""
        if not data:
            return
        try:
            await self._stream.write(data if self._kind is None else _packet(self._kind, data))
        except StreamClosed:
            raise BrokenPipe from None


class _Packets:
    """Parses the host's packets, in whatever pieces they come."""

    def __init__(self) -> None:
        self._received = b""

    def feed(self, data: bytes) -> tuple[bytes, bool]:
        """Return the bytes for standard input, and whether it ends there."""
        self._received += data
        typed = b""
        while len(self._received) >= _PACKET.size:
            kind, size = _PACKET.unpack_from(self._received)
            end = _PACKET.size + size
            if kind == _CLOSE_STDIN:
                return typed, True
            if len(self._received) < end:
                break
            if kind == _STDIN:
                typed += self._received[_PACKET.size : end]
            self._received = self._received[end:]
        return typed, False


class _Terminal:
    """What is between a person and a shell: it shows what is typed, and ends lines with CR LF."""

    def __init__(self, screen: Output, keyboard: Pipe) -> None:
        self._screen = screen
        self._keyboard = keyboard

    async def write(self, data: bytes) -> None:
        """Show output."""
        await self._screen.write(data.replace(b"\n", b"\r\n"))

    async def type(self, data: bytes) -> bool:
        """Pass on what is typed; return False if it interrupts the shell."""
        typed, interrupt, _ = data.replace(b"\r", b"\n").partition(_INTERRUPT)
        typed, end, _ = typed.partition(_END)
        await self.write(typed)
        await self._keyboard.write(typed)
        if end:
            self._keyboard.close_writing()
        return not interrupt


class _Conversation:
    """One shell service from its start to its end."""

    def __init__(self, request: ShellRequest, stream: Stream, shell: Shell) -> None:
        self._request = request
        self._stream = stream
        self._shell = shell
        self._stdin = Pipe(capacity=_UNREAD)
        self._stdout: Output = _HostOutput(stream, _STDOUT if request.protocol else None)
        self._stderr: Output = self._stdout
        self._stdin_was_wanted = False
        self._terminal: _Terminal | None = None
        if request.terminal:
            shell.is_interactive = not request.command
            self._terminal = _Terminal(self._stdout, self._stdin)
            self._stdout = self._stderr = self._terminal
        elif request.protocol:
            self._stderr = _HostOutput(stream, _STDERR)

    async def run(self) -> None:
        """Run the shell while listening to the host."""
        loop = asyncio.get_running_loop()
        work = loop.create_task(self._work())
        listening = loop.create_task(self._listen())
        try:
            await asyncio.wait((work, listening), return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and self._stdin_was_wanted:
                await asyncio.wait((work,), timeout=_GRACE_SECONDS)
        finally:
            for task in (work, listening):
                task.cancel()
            await asyncio.wait((work, listening))
        status = _INTERRUPTED if work.cancelled() else work.result()
        if self._request.protocol:
            with suppress(StreamClosed):
                await self._stream.write(_packet(_EXIT, bytes([status])))

    async def _listen(self) -> None:
        """Pass on what the host sends, until it closes the stream or interrupts the shell."""
        packets = _Packets() if self._request.protocol else None
        try:
            while data := await self._stream.read():
                ends = False
                if packets is not None:
                    data, ends = packets.feed(data)
                if self._terminal is not None:
                    if not await self._terminal.type(data):
                        return
                    continue
                if data:
                    await self._stdin.write(data)
                if ends:
                    self._stdin.close_writing()
        except BrokenPipe:
            pass
        self._stdin_was_wanted = self._stdin.is_wanted
        self._stdin.close_writing()

    async def _work(self) -> int:
        streams = (self._stdin, self._stdout, self._stderr)
        if self._request.command:
            return await run_script(self._shell, self._request.command, *streams)
        return await run_input(self._shell, *streams)
