"""adbd's shell services: packets, exit codes, and hosts that go away."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.service import serve_shell
from pytest_clawperator.simulator.shell.shell import Shell
from pytest_clawperator.simulator.wire.stream import ServiceRefused, Stream, StreamClosed
from tests.doubles.simulator.adb_hosts import MiniDevice, in_loop, real_adb
from tests.simulator.shell.scripts import DEADLINE, Gate, new_shell, soon, with_gate

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)


def packet(kind: int, data: bytes = b"") -> bytes:
    """Return one packet of the shell protocol."""
    return struct.pack("<BI", kind, len(data)) + data


@dataclass
class FakeStream:
    """A host made of bytes: what it sends is put in, what it gets is collected."""

    sent: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    received: bytes = b""
    closed: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> bytes:
        """Return the next bytes of the host."""
        if self.closed and self.sent.empty():
            return b""
        return await self.sent.get()

    async def write(self, data: bytes) -> None:
        """Take bytes for the host."""
        if self.closed:
            raise StreamClosed
        self.received += data
        self.changed.set()

    def send(self, data: bytes) -> None:
        """Send bytes to the device."""
        self.sent.put_nowait(data)

    def close(self) -> None:
        """Close the stream, as adb does when its user gives up."""
        self.closed = True
        self.sent.put_nowait(b"")

    async def until(self, data: bytes, *, times: int = 1) -> None:
        """Wait until the host has got these bytes, so often."""
        while self.received.count(data) < times:
            self.changed.clear()
            await soon(self.changed.wait())

    def packets(self) -> dict[int, bytes]:
        """Take what was received apart: all bytes of each kind."""
        found: dict[int, bytes] = {}
        position = 0
        while position < len(self.received):
            kind, size = struct.unpack_from("<BI", self.received, position)
            position += 5 + size
            found[kind] = found.get(kind, b"") + self.received[position - size : position]
        assert position == len(self.received)
        return found


def serve(destination: str, *sent: bytes) -> FakeStream:
    """Serve one request of a host that sends this and stays; return the host."""

    async def scenario() -> FakeStream:
        stream = FakeStream()
        for data in sent:
            stream.send(data)
        await soon(serve_shell(destination, stream, new_shell))
        return stream

    return asyncio.run(scenario())


class Conversation:
    """A service that runs while a test talks to it."""

    def __init__(self, destination: str, shell: Shell) -> None:
        self.stream = FakeStream()
        self.shell = shell
        self.task = asyncio.create_task(serve_shell(destination, self.stream, lambda: shell))

    async def ends(self) -> None:
        """Wait until the service is over."""
        await asyncio.wait_for(self.task, DEADLINE)


# Without the shell protocol


@pytest.mark.parametrize("service", ["shell:", "exec:", "shell,raw:", "shell,TERM=xterm,raw:"])
def test_plain_services_mix_both_outputs(service: str) -> None:
    """Without packets there is one stream of bytes, exactly as written."""
    assert serve(f"{service}echo out; echo err >&2; exit 3").received == b"out\nerr\n"


def test_other_services_are_refused() -> None:
    """What is not a shell service is refused before anything is written."""
    for destination in ("shell", "sync:", "exec,v2:ls", "shellx:ls", "", ":"):
        with pytest.raises(ServiceRefused):
            serve(destination)


# The shell protocol


def test_packets_keep_outputs_apart_and_carry_the_status() -> None:
    """Both outputs and the exit code arrive as packets of their own."""
    stream = serve("shell,v2,raw:echo out; echo err >&2; exit 7")

    assert stream.packets() == {STDOUT: b"out\n", STDERR: b"err\n", EXIT: b"\x07"}
    assert stream.received.endswith(packet(EXIT, b"\x07"))


def test_large_output_is_split_into_packets() -> None:
    """No packet is larger than a host's buffer, and nothing is lost."""
    sent = b"x" * 200_000

    stream = serve("shell,v2,raw:cat", packet(STDIN, sent) + packet(CLOSE_STDIN))

    sizes, position = [], 0
    while position < len(stream.received):
        (size,) = struct.unpack_from("<I", stream.received, position + 1)
        sizes.append(size)
        position += 5 + size
    assert max(sizes) <= 64 * 1024
    assert stream.packets()[STDOUT] == sent


def test_standard_input_comes_in_packets_and_ends_with_one() -> None:
    """What the host types arrives; closing the input lets a reader finish."""
    stream = serve(
        "shell,v2,raw:cat; echo end",
        packet(STDIN, b"one\n") + packet(WINDOW_SIZE, b"24x80,0x0"),
        packet(STDIN, b"two\n") + packet(CLOSE_STDIN),
    )

    assert stream.packets() == {STDOUT: b"one\ntwo\nend\n", EXIT: b"\0"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 7), max_size=20))
def test_packets_may_come_in_any_pieces(cuts: list[int]) -> None:
    """How the wire cuts packets does not matter."""
    data = packet(STDIN, b"hello ") + packet(9, b"??") + packet(STDIN, b"there")
    data += packet(CLOSE_STDIN)
    pieces = []
    for cut in cuts:
        pieces.append(data[:cut])
        data = data[cut:]

    stream = serve("shell,v2,raw:cat", *filter(None, [*pieces, data]))

    assert stream.packets() == {STDOUT: b"hello there", EXIT: b"\0"}


def test_an_empty_command_runs_what_comes_in() -> None:
    """A piped script runs line by line."""
    stream = serve("shell,v2,raw:", packet(STDIN, b"echo a\nnope\nexit 4\n") + packet(CLOSE_STDIN))

    assert stream.packets() == {
        STDOUT: b"a\n",
        STDERR: b"/system/bin/sh: nope: inaccessible or not found\n",
        EXIT: b"\x04",
    }


def test_a_command_longer_than_the_kernel_takes_is_refused() -> None:
    """A single argument may have 128 KiB, as on a phone."""
    fits, too_long = "echo " + "x" * (131071 - 5), "echo " + "x" * (131072 - 5)

    assert serve(f"shell,v2,raw:{fits}").packets()[EXIT] == b"\0"
    message = b"error: exec '/system/bin/sh' failed: Argument list too long\n"
    assert serve(f"shell,v2,raw:{too_long}").packets() == {STDERR: message, EXIT: b"\x7e"}
    assert serve(f"shell:{too_long}").received == message


# Hosts that go away


@pytest.mark.parametrize("service", ["shell:", "shell,v2,raw:", "exec:", "shell,v2,pty:"])
@pytest.mark.parametrize("script", ["gate | cat"])
def test_closing_the_stream_ends_the_command(service: str, script: str) -> None:
    """A host that closes its side ends what it started."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation(service + script, new_shell(gate=gate))
        await soon(gate.reached.wait())
        conversation.stream.close()
        await conversation.ends()
        assert gate.cancelled

    with_gate(scenario)


def test_what_was_sent_before_closing_is_still_used() -> None:
    """A host may send a file and close immediately; the reader gets all of it."""

    async def scenario() -> bytes:
        conversation = Conversation("exec:cat > /sdcard/f", new_shell())
        conversation.stream.send(b"part one, ")
        conversation.stream.send(b"part two")
        conversation.stream.close()
        await conversation.ends()
        return conversation.shell.files.read("/sdcard/f")

    assert asyncio.run(scenario()) == b"part one, part two"


# Terminals


def test_a_terminal_shows_what_is_typed_and_asks_for_more() -> None:
    """A person sees a prompt, the keys and the answers; Ctrl-D ends the session."""
    stream = serve("shell,v2,TERM=xterm,pty:", packet(STDIN, b"echo hi\r)\r"), packet(STDIN, b"\4"))

    screen = stream.packets()[STDOUT].decode()
    assert screen.startswith("localhost:/data/local/tmp $ ")
    assert "echo hi\r\n" in screen
    assert "hi\r\nlocalhost:/data/local/tmp $ " in screen
    assert "syntax error: unexpected ')'\r\n" in screen
    assert stream.packets()[EXIT] == b"\1"


def test_an_interrupt_ends_what_runs_in_a_terminal() -> None:
    """Ctrl-C ends the command, with the status of an interrupt."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation("shell,v2,pty:gate", new_shell(gate=gate))
        await soon(gate.reached.wait())
        conversation.stream.send(packet(STDIN, b"\3"))
        await conversation.ends()
        assert gate.cancelled
        assert conversation.stream.packets() == {EXIT: b"\x82"}

    with_gate(scenario)


# The real adb


@dataclass
class ShellDevice(MiniDevice):
    """A device whose shell services are the real ones."""

    async def serve(self, destination: str, stream: Stream) -> None:
        """Serve the shell."""
        await serve_shell(destination, stream, new_shell)


@in_loop
async def test_the_real_adb_runs_commands_and_sessions(tmp_path: Path) -> None:
    """The real adb gets outputs, statuses and input across."""
    async with real_adb(tmp_path, ShellDevice()) as adb:
        quoted = "echo 'it'\"'\"'s'; echo é >&2; exit 9"
        assert await adb("shell", quoted) == (9, b"it's\n", "é\n".encode())
        assert await adb("shell", "cat", stdin=b"a\nb\n") == (0, b"a\nb\n", b"")
        assert await adb("shell", stdin=b"echo piped\nexit 3\n") == (3, b"piped\n", b"")
        assert await adb("shell", "-x", "echo old; exit 3") == (0, b"old\n", b"")
        assert await adb("exec-out", "echo -n 'a\\nb'") == (0, b"a\nb", b"")
        code, screen, _ = await adb("shell", "-tt", "echo tty")
        assert (code, screen) == (0, b"tty\r\n")
