"""Inputs, outputs and pipes of commands."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.runner import run_script
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.streams import (
    MAX_TEXT,
    BrokenPipe,
    Bytes,
    Collected,
    Pipe,
    Source,
    TextTooLong,
    decode,
    encode,
)
from tests.simulator.shell.scripts import DEADLINE, Flow, Gate, new_shell, run, soon, with_gate


def test_a_slow_reader_holds_the_writer_back() -> None:
    """A pipe holds only so much."""

    async def scenario(gate: Gate) -> None:
        written = 0

        async def flood(invocation: Invocation) -> int:
            nonlocal written
            while True:
                await invocation.stdout.write(b"x" * 1024)
                written += 1

        shell = new_shell(gate=gate, flood=flood)
        work = asyncio.create_task(run_script(shell, "flood | gate", Bytes(), Flow(), Flow()))
        await soon(gate.reached.wait())
        for _ in range(1000):
            await asyncio.sleep(0)
        assert written < 200
        gate.opened.set()
        await asyncio.wait_for(work, DEADLINE)

    with_gate(scenario)


def test_a_pipe_without_a_reader_refuses_writes() -> None:
    """The writer learns that its reader is gone."""

    async def scenario() -> None:
        pipe = Pipe()
        await pipe.write(b"a")
        pipe.close_reading()
        with pytest.raises(BrokenPipe):
            await pipe.write(b"b")

    asyncio.run(scenario())


def test_a_source_reads_a_line_and_leaves_the_rest() -> None:
    """Lines are found across the pieces in which they come."""

    async def scenario() -> list[bytes]:
        source = Source(Bytes(b"one\ntwo\nend"))
        return [await source.read_line(), await source.read(), await source.read()]

    assert asyncio.run(scenario()) == [b"one\n", b"two\nend", b""]


def test_large_data_comes_in_pieces_and_whole() -> None:
    """Nothing is lost on the way through a pipe."""
    data = bytes(range(256)) * 1000

    assert encode(run("cat | cat", data).out) == data


def test_collected_output_has_a_limit() -> None:
    """A substitution cannot fill the memory."""

    async def scenario() -> None:
        with pytest.raises(TextTooLong):
            await Collected().write(b"x" * (MAX_TEXT + 1))

    asyncio.run(scenario())


@given(st.binary())
def test_any_bytes_come_back_as_they_were(data: bytes) -> None:
    """What is not UTF-8 survives being text."""
    assert encode(decode(data)) == data


def test_half_a_surrogate_pair_can_be_written() -> None:
    """Text from JSON may hold one, and must not break a command."""
    assert encode("a\ud83d") == b"a?"
