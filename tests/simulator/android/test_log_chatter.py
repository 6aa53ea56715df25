"""Other processes' lines: seeded, tricky, and at a rate that can change."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable

from pytest_clawperator.simulator.android.log_buffer import LogBuffer
from pytest_clawperator.simulator.android.log_chatter import REMARKS, Chatter
from tests.doubles.simulator.adb_hosts import in_loop


def make_log() -> LogBuffer:
    """Return an empty log at a fixed time."""
    return LogBuffer(clock=lambda: 1000.0)


def said(
    seed: int, count: int, pid_of: Callable[[str], int | None] = lambda process: None
) -> LogBuffer:
    """Return a log with chatter in it."""
    log = make_log()
    Chatter(log, rng=random.Random(seed), pid_of=pid_of).write_lines(count)
    return log


def test_the_same_seed_says_the_same() -> None:
    """Lines, tags, processes and threads come from the seed alone."""
    assert said(1, 200).since(0) == said(1, 200).since(0)
    assert said(1, 200).since(0) != said(2, 200).since(0)


def test_every_remark_can_be_said() -> None:
    """Each line's placeholders are known; its process logs under its real pid, if it has one."""
    lines = said(3, 2000, {"system_server": 4711}.get).since(0)

    assert {line.tag for line in lines} == {remark.tag for remark in REMARKS}
    assert not any("{n}" in line.message or "{hex}" in line.message for line in lines)
    assert {line.pid for line in lines if line.tag == "AlarmManager"} == {4711}
    assert all(line.pid > 0 for line in lines)


def test_shown_envelopes_belong_to_no_command() -> None:
    """A log viewer's line holds an envelope in its middle, of a command that was never sent."""
    shown = [line for line in said(5, 1000).since(0) if "[Clawperator-Result]" in line.message]

    assert shown
    for line in shown:
        before, _, envelope = line.message.partition("[Clawperator-Result] ")
        assert before
        assert json.loads(envelope)["commandId"].startswith("shown-")


@in_loop
async def test_it_talks_when_it_has_a_rate() -> None:
    """Silence at rate 0, lines once the rate is raised while it runs, silence when stopped."""
    log = make_log()
    chatter = Chatter(log, rng=random.Random(6))
    await chatter.stop()
    chatter.start()
    chatter.start()
    await asyncio.sleep(0)
    assert log.next_number == 1
    chatter.rate = 1000
    await asyncio.wait_for(log.wait(50), 10)
    await chatter.stop()
    count = log.next_number
    await asyncio.sleep(0)
    assert log.next_number == count
