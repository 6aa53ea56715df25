"""adbd's shell services: packets, exit codes, and hosts that go away."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.service import serve_shell
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.wire.stream import ServiceRefused, Stream
from tests.doubles.simulator.adb_hosts import MiniDevice, real_adb
from tests.simulator.shell.hosts import (
    CLOSE_STDIN,
    EXIT,
    STDERR,
    STDIN,
    STDOUT,
    WINDOW_SIZE,
    Conversation,
    FakeStream,
    packet,
    serve,
)
from tests.simulator.shell.scripts import DEADLINE, Gate, new_shell, soon, with_gate

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
    line = "x" * 999
    expected = f"{line}\n".encode() * 512
    doubled = "; ".join(["cat f f > g", "cat g g > f"] * 4)

    stream = serve(f"shell,v2,raw:echo {line} > f; {doubled}; cat f f")

    sizes = []
    position = 0
    while position < len(stream.received):
        (size,) = struct.unpack_from("<I", stream.received, position + 1)
        sizes.append(size)
        position += 5 + size
    assert max(sizes) <= 64 * 1024
    assert stream.packets()[STDOUT] == expected


def test_standard_input_comes_in_packets_and_ends_when_told() -> None:
    """What the host types arrives; closing the input lets a reader finish."""
    stream = serve(
        "shell,v2,raw:cat; echo end",
        packet(STDIN, b"one\n") + packet(WINDOW_SIZE, b"24x80,0x0"),
        packet(STDIN, b"two\n") + packet(CLOSE_STDIN),
    )

    assert stream.packets() == {STDOUT: b"one\ntwo\nend\n", EXIT: b"\0"}


@settings(max_examples=30, deadline=None)
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
        STDERR: b"/system/bin/sh: <stdin>[2]: nope: inaccessible or not found\n",
        EXIT: b"\x04",
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
        job = conversation.shell.children[20001]
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

    with_gate(scenario)


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


def test_the_real_adb_runs_commands_and_sessions(tmp_path: Path) -> None:
    """The real adb gets outputs, statuses and input across."""

    async def scenario(adb: Callable[..., Awaitable[tuple[int, bytes, bytes]]]) -> None:
        assert await adb("shell", "echo 'it'\"'\"'s'; echo é >&2; exit 9") == (
            9,
            b"it's\n",
            "é\n".encode(),
        )
        assert await adb("shell", "cat", stdin=b"a\nb\n") == (0, b"a\nb\n", b"")
        assert await adb("shell", stdin=b"echo piped\nexit 3\n") == (3, b"piped\n", b"")
        assert await adb("shell", "-x", "echo old; exit 3") == (0, b"old\n", b"")
        assert await adb("exec-out", "printf 'a\\nb'") == (0, b"a\nb", b"")
        code, screen, _ = await adb("shell", "-tt", "echo tty")
        assert (code, screen) == (0, b"tty\r\n")

    with_adb(tmp_path, scenario)


def test_a_host_that_goes_away_is_a_signal_for_a_trap() -> None:
    """What was noted for a hang-up runs, and nothing else of the script does."""

    async def scenario() -> bytes:
        script = "trap 'echo hung up > f; exit' HUP; echo ready; read; echo read > f"
        conversation = Conversation(f"shell,v2,raw:{script}", new_shell())
        await conversation.stream.until(b"ready")
        conversation.stream.close()
        await conversation.ends()
        return conversation.shell.files.read("/data/local/tmp/f")

    assert asyncio.run(scenario()) == b"hung up\n"
