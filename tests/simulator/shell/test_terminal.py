"""Terminals: echo, prompts, interrupts, and keys."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.shell.hosts import EXIT, STDERR, STDIN, STDOUT, Conversation, packet
from tests.simulator.shell.scripts import Gate, new_shell, soon, with_gate

PROMPT = b" $ "


def session(*lines: bytes, command: str = "") -> bytes:
    """Type lines into a terminal, each at a prompt; return what the screen got."""

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


def test_control_d_passes_a_line_on_or_ends_the_session() -> None:
    """In a line it passes on what is typed, at its start it ends the input."""
    screen = session(b"echo e\x04\r", b"\x04")

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
