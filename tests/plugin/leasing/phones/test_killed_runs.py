"""Runs with emulators that are killed: the next run handles whatever they left."""

from __future__ import annotations

import os
import signal

import pytest

from tests.doubles.kill_at import MOMENTS, VARIABLE
from tests.doubles.simulator.sdk_bench import DEADLINE, SdkBench
from tests.plugin.conftest import Run
from tests.plugin.leasing.phones.conftest import Room, Start

IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
OFTEN = ("started, id not written",)
# What is wanted by the next run: the same, which may take something over, or something else.
NEXT = ("phone", "tablet")
LIKE = "api=33,abi=x86_64,image=google_apis"
SUITE = """
import os, signal

def test_it(clawperator):
    victim = {
        "tests run": os.getpid(),
        "workers run tests": os.getppid(),
    }.get(os.environ.get("KILL_AT"))
    if victim:
        os.kill(victim, signal.SIGKILL)
"""


def run_until(moment: str, start: Start) -> None:
    """Run the suite until the moment at which it is killed."""
    count = {"second of several boots": 3, "workers run tests": 2}.get(moment, 1)
    workers = ("-n", "2") if moment == "workers run tests" else ()
    wanted = ("--claw-emulator", LIKE, "--claw-device", f"emulator:{count}")
    many = ("--claw-emulator-boots=3", *workers)
    with start("-p", "tests.doubles.kill_at", *wanted, *many, **{VARIABLE: moment}) as run:
        assert run.stdout is not None
        # Orphans may have its output open, too.
        code = run.wait(DEADLINE * 4)
        assert code == -signal.SIGKILL, run.stdout.read()


@pytest.mark.parametrize("device", NEXT if IS_SOAK else NEXT[1:])
@pytest.mark.parametrize("moment", MOMENTS if IS_SOAK else OFTEN)
def test_the_next_run_handles_what_a_killed_one_left(
    pytester: pytest.Pytester,
    run_emulators: Run,
    start_emulators: Start,
    bench: SdkBench,
    room: Room,
    moment: str,
    device: str,
) -> None:
    """It takes it over, waits for it or ends it; afterwards nothing of both runs is left."""
    pytester.makepyfile(SUITE)
    bench.behave(offline_seconds=0.3, tool_seconds=0.1, download_seconds=0.3)

    run_until(moment, start_emulators)
    result = run_emulators("--claw-emulator", f"{LIKE},device={device}", "--claw-device=emulator")

    result.assert_outcomes(passed=1)
    assert room.left() == []


def test_a_download_that_goes_on_is_waited_for(
    pytester: pytest.Pytester,
    run_emulators: Run,
    start_emulators: Start,
    bench: SdkBench,
    room: Room,
) -> None:
    """What the tool of a killed run installs is not downloaded once more."""
    pytester.makepyfile(SUITE)
    bench.behave(download_seconds=3.0)
    before = len(bench.sdk.calls("download"))

    run_until("image being downloaded", start_emulators)
    result = run_emulators("--claw-emulator", LIKE, "--claw-device=emulator")

    result.assert_outcomes(passed=1)
    assert len(bench.sdk.calls("download")) == before + 1
    assert room.left() == []
