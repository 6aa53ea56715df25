"""adbd's shell services: packets, terminals, exit codes, and hosts that go away."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.service import serve_shell
from pytest_clawperator.simulator.shell.shell import Invocation, Shell
from pytest_clawperator.simulator.wire.stream import ServiceRefused, Stream, StreamClosed
from tests.simulator.shell.scripts import DEADLINE, Gate, new_shell, soon, with_gate
from tests.simulator.wire.hosts import MiniDevice, real_adb

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)


def packet(kind: int, data: bytes = b"") -> bytes:
    """Give one packet of the shell protocol."""
    return struct.pack("<BI", kind, len(data)) + data


@dataclass
class FakeStream:
    """A host made of bytes: what it sends is put in, what it gets is collected."""

    sent: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    received: bytes = b""
    closed: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> bytes:
        """Give the next bytes of the host."""
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
    """Serve one request of a host that sends this and stays; give the host back."""

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


def test_bytes_pass_unchanged() -> None:
    """A picture or an archive is not touched on its way."""
    data = bytes(range(256)) * 300

    async def picture(invocation: Invocation) -> int:
        await invocation.stdout.write(data)
        return 0

    async def scenario() -> FakeStream:
        conversation = Conversation("exec:picture", new_shell(picture=picture))
        await conversation.ends()
        return conversation.stream

    assert asyncio.run(scenario()).received == data


@pytest.mark.parametrize("destination", ["shell", "sync:", "exec,v2:ls", "shellx:ls", "", ":"])
def test_other_services_are_refused(destination: str) -> None:
    """What is no shell service is refused before anything is written."""
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
    stream = serve("shell,v2,raw:seq 1 60000 | cat > f; cat f")

    sizes = []
    position = 0
    while position < len(stream.received):
        (size,) = struct.unpack_from("<I", stream.received, position + 1)
        sizes.append(size)
        position += 5 + size
    assert max(sizes) <= 64 * 1024
    expected = "".join(f"{number}\n" for number in range(1, 60001)).encode()
    assert stream.packets()[STDOUT] == expected


def test_standard_input_comes_in_packets_and_ends_when_told() -> None:
    """What the host types arrives; closing the input lets a reader finish."""
    stream = serve(
        "shell,v2,raw:cat; echo end",
        packet(STDIN, b"one\n") + packet(WINDOW_SIZE, b"24x80,0x0"),
        packet(STDIN, b"two\n") + packet(CLOSE_STDIN),
    )

    assert stream.packets() == {STDOUT: b"one\ntwo\nend\n", EXIT: b"\0"}


@settings(deadline=None)
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
    """A piped script runs line by line, sharing its input with its commands."""
    script = b"echo a\nread x\nfor the read\nif true\nthen\necho $x\nfi\nnope\nexit 4\necho no\n"

    stream = serve("shell,v2,raw:", packet(STDIN, script) + packet(CLOSE_STDIN))

    assert stream.packets() == {
        STDOUT: b"a\nfor the read\n",
        STDERR: b"/system/bin/sh: <stdin>[7]: nope: inaccessible or not found\n",
        EXIT: b"\x04",
    }


def test_a_script_without_its_end_is_an_error() -> None:
    """When the input ends inside a command, that is said."""
    stream = serve("shell,v2,raw:", packet(STDIN, b"if true\n") + packet(CLOSE_STDIN))

    assert stream.packets() == {
        STDERR: b"/system/bin/sh: <stdin>[1]: syntax error: unmatched 'if'\n",
        EXIT: b"\x01",
    }


def test_a_command_longer_than_the_kernel_takes_is_refused() -> None:
    """A single argument may have 128 KiB, as on a phone."""
    fits, too_long = "echo " + "x" * (131071 - 5), "echo " + "x" * (131072 - 5)

    assert serve(f"shell,v2,raw:{fits}").packets()[EXIT] == b"\0"
    message = b"error: exec '/system/bin/sh' failed: Argument list too long\n"
    assert serve(f"shell,v2,raw:{too_long}").packets() == {STDERR: message, EXIT: b"\x7e"}
    assert serve(f"shell:{too_long}").received == message


# Hosts that go away, and jobs that stay


@pytest.mark.parametrize("service", ["shell:", "shell,v2,raw:", "exec:", "shell,v2,pty:"])
@pytest.mark.parametrize("script", ["gate", "gate | cat", "gate & cat"])
def test_closing_the_stream_ends_the_command(service: str, script: str) -> None:
    """A host that closes its side ends what it started, the background included."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation(service + script, new_shell(gate=gate))
        await soon(gate.reached.wait())
        conversation.stream.close()
        await conversation.ends()
        await asyncio.wait_for(conversation.shell.jobs.stop(), DEADLINE)
        assert gate.cancelled

    with_gate(scenario)


def test_losing_the_connection_ends_the_command() -> None:
    """When adbd cancels the service, nothing of it goes on."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation("shell,v2,raw:gate | gate & wait", new_shell(gate=gate))
        await soon(gate.reached.wait())
        conversation.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await conversation.ends()
        assert gate.cancelled

    with_gate(scenario)


def test_what_was_sent_before_closing_is_still_used() -> None:
    """A host may send a file and close at once; the reader gets all of it."""

    async def scenario() -> bytes:
        conversation = Conversation("exec:cat > /sdcard/f", new_shell())
        conversation.stream.send(b"part one, ")
        conversation.stream.send(b"part two")
        conversation.stream.close()
        await conversation.ends()
        return conversation.shell.files.read("/sdcard/f")

    assert asyncio.run(scenario()) == b"part one, part two"


def test_the_stream_stays_open_for_background_output() -> None:
    """With packets, the end comes after everything that can still write there."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation("shell,v2,raw:gate & echo first", new_shell(gate=gate))
        await conversation.stream.until(packet(STDOUT, b"first\n"))
        await soon(gate.reached.wait())
        assert not conversation.task.done()
        gate.opened.set()
        await conversation.ends()
        assert conversation.stream.packets() == {STDOUT: b"first\npassed\n", EXIT: b"\0"}

    with_gate(scenario)


@pytest.mark.parametrize(
    "destination", ["shell,v2,raw:gate >f 2>&1 & echo $!", "shell:nohup gate >f 2>&1 & echo $!"]
)
def test_a_detached_job_does_not_hold_the_stream(destination: str) -> None:
    """A job that writes elsewhere lets the host go and goes on by itself."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation(destination, new_shell(gate=gate))
        await conversation.ends()
        jobs = conversation.shell.jobs
        job = jobs.find(20001)
        assert job is not None
        gate.opened.set()
        assert await asyncio.wait_for(job.status(), DEADLINE) == 0
        assert conversation.shell.files.read("/data/local/tmp/f") == b"passed\n"

    with_gate(scenario)


def test_without_packets_the_end_hangs_up_on_jobs() -> None:
    """The old service has a terminal, and its end ends what is left in the background."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation("shell:gate & sleep 0; echo end", new_shell(gate=gate))
        await conversation.ends()
        assert conversation.stream.received == b"end\n"
        assert len(conversation.shell.jobs) == 0

    with_gate(scenario)


# Terminals


PROMPT = b" $ "


def session(*lines: bytes, command: str = "") -> bytes:
    """Type lines into a terminal, each at a prompt of its own; give what the screen got."""

    async def scenario() -> bytes:
        conversation = Conversation(f"shell,v2,TERM=xterm,pty:{command}", new_shell())
        for number, line in enumerate(lines, 1):
            await conversation.stream.until(PROMPT, times=number)
            conversation.stream.send(packet(STDIN, line))
        await conversation.ends()
        found = conversation.stream.packets()
        assert STDERR not in found
        return found.get(STDOUT, b"") + b"|" + found[EXIT]

    return asyncio.run(scenario())


def test_a_command_on_a_terminal_gets_returns() -> None:
    """Each newline is a return and a newline, and the program knows that it is a terminal."""
    screen = session(command="echo a; [ -t 1 ] && echo $TERM; nope")

    complaint = b"/system/bin/sh: nope: inaccessible or not found\r\n"
    assert screen == b"a\r\nxterm\r\n" + complaint + b"|\x7f"


def test_a_session_prompts_echoes_and_remembers() -> None:
    """A person sees what is typed, the answer, and a prompt with the last failure."""
    screen = session(b"cd /data\r", b"x=1\r", b"echo $x\r", b"nope\r", b"exit 3\r")

    assert screen.decode().split("\r\n") == [
        "localhost:/data/local/tmp $ cd /data",
        "localhost:/data $ x=1",
        "localhost:/data $ echo $x",
        "1",
        "localhost:/data $ nope",
        "/system/bin/sh: nope: inaccessible or not found",
        "127|localhost:/data $ exit 3",
        "|\x03",
    ]


def test_keys_that_edit_the_line() -> None:
    """Backspace takes a character, whole even if it has several bytes; others clear or end."""
    lines = [b"echo a\xc3\xa9\x7fb\x08c\r", b"junk\x15echo d\r", b"echo e\x04\r", b"\x04"]
    screen = session(*lines)

    assert b"\nac\r\n" in screen
    assert b"\nd\r\n" in screen
    assert b"\ne\r\n" in screen
    assert screen.endswith(b"|\0")


def test_a_syntax_error_does_not_end_a_session() -> None:
    """A person may go on after a mistake, and is asked for the rest of a command."""
    screen = session(b"fi\r", b"if true\rthen echo yes; fi\r", b"exit\r")

    assert b"syntax error: unexpected 'fi'\r\n" in screen
    assert b"> " in screen
    assert b"yes\r\n" in screen


def test_an_interrupt_ends_the_command_and_not_the_session() -> None:
    """Control-C ends what runs; at the prompt it only clears the line."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation("shell,v2,pty:", new_shell(gate=gate))
        stream = conversation.stream
        stream.send(packet(STDIN, b"junk\x03gate\r"))
        await soon(gate.reached.wait())
        stream.send(packet(STDIN, b"\x03"))
        await stream.until(b"130|localhost")
        stream.send(packet(STDIN, b"exit\r"))
        await conversation.ends()
        assert gate.cancelled
        assert stream.packets()[EXIT] == b"\x82"

    with_gate(scenario)


def test_an_interrupt_ends_a_single_command() -> None:
    """A command that was started on a terminal ends with the signal's status."""

    async def scenario(gate: Gate) -> None:
        conversation = Conversation("shell,v2,pty:gate", new_shell(gate=gate))
        await soon(gate.reached.wait())
        conversation.stream.send(packet(STDIN, b"\x03"))
        await conversation.ends()
        assert conversation.stream.packets()[EXIT] == b"\x82"

    with_gate(scenario)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=60))
def test_no_keys_break_a_session(keys: bytes) -> None:
    """Whatever is typed, the host can still close the stream."""

    async def scenario() -> None:
        conversation = Conversation("shell,v2,pty:", new_shell())
        conversation.stream.send(packet(STDIN, keys))
        await conversation.stream.until(PROMPT)
        conversation.stream.close()
        await conversation.ends()

    asyncio.run(scenario())


# The real adb


@dataclass
class ShellDevice(MiniDevice):
    """A device whose shell services are the real ones."""

    async def serve(self, destination: str, stream: Stream) -> None:
        """Serve the shell."""
        await serve_shell(destination, stream, new_shell)


def with_adb(tmp_path: Path, scenario: Callable[..., Awaitable[None]]) -> None:
    """Run a scenario with the real adb connected to a device."""

    async def play() -> None:
        async with real_adb(tmp_path, ShellDevice()) as adb:
            await scenario(adb)

    asyncio.run(play())


def test_adb_shell(tmp_path: Path) -> None:
    """The real adb gets outputs, statuses and input across."""

    async def scenario(adb: Callable[..., Awaitable[tuple[int, bytes, bytes]]]) -> None:
        assert await adb("shell", "echo 'it'\"'\"'s'; echo é >&2; exit 9") == (
            9,
            b"it's\n",
            "é\n".encode(),
        )
        assert await adb("shell", "sort -r", stdin=b"a\nb\n") == (0, b"b\na\n", b"")
        assert await adb("shell", stdin=b"echo piped\nexit 3\n") == (3, b"piped\n", b"")
        assert await adb("shell", "-x", "echo old; exit 3") == (0, b"old\n", b"")
        assert await adb("exec-out", "printf 'a\\nb'") == (0, b"a\nb", b"")
        code, screen, _ = await adb("shell", "-tt", "echo tty")
        assert (code, screen) == (0, b"tty\r\n")

    with_adb(tmp_path, scenario)
