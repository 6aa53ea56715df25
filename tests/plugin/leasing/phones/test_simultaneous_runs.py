"""Runs with emulators that start at the same moment."""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

from tests.doubles.simulator.sdk_bench import DEADLINE, SdkBench
from tests.plugin.leasing.phones.conftest import Room, Start

ROUNDS = 100 if os.environ.get("CLAWPERATOR_SOAK") else 1
# Each run has its emulators until the other one has its own.
MEETS = """
import os, time
from pathlib import Path

def test_it(clawperator):
    here = Path(__file__).parent
    (here / f"met-{os.getpid()}").touch()
    deadline = time.monotonic() + 60
    while len([*here.glob("met-*")]) < 2:
        assert time.monotonic() < deadline, "the other run has no emulators"
        time.sleep(0.02)
    clawperator.home()
"""
KNOWN = re.compile(r"emulator (\S+): known to adb as (emulator-\d+)")


@pytest.mark.parametrize("number", range(ROUNDS))
def test_runs_at_the_same_moment_share_nothing(
    pytester: pytest.Pytester, start_emulators: Start, bench: SdkBench, room: Room, number: int
) -> None:
    """Each has virtual devices and ports of its own; nothing of them is left."""
    pytester.makepyfile(MEETS)
    if number % 2 == 0:
        bench.create("mine")  # only one of them can have it

    runs = [start_emulators("--claw-device", "emulator:2") for _ in range(2)]
    said = [run.communicate(timeout=DEADLINE * 4)[0] for run in runs]

    found = [pair for text in said for pair in KNOWN.findall(text)]
    assert [run.returncode for run in runs] == [0, 0], "\n".join(said)
    assert Counter(len({pair[at] for pair in found}) for at in (0, 1)) == {4: 2}, found
    assert [one for one in room.left() if "/mine." not in one] == []
