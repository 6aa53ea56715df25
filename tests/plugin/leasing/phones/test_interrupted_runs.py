"""Runs with emulators that are ended by a signal: they end what they started."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.doubles.simulator.sdk_bench import DEADLINE, SdkBench
from tests.plugin.leasing.phones.conftest import Room, Start

IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
WAITS = """
import time

def test_it(clawperator):
    print("the test has begun", flush=True)
    time.sleep(600)
"""
# What a run says at the moment at which it gets the signal.
MOMENTS = {
    "installing": "% downloading",
    "booting": "emulator *: known to adb as",
    "testing": "the test has begun",
}


def await_line(run: subprocess.Popen[str], words: str) -> None:
    """Read what a run says until it says this."""
    assert run.stdout is not None
    lines: list[str] = []
    for line in iter(run.stdout.readline, ""):
        lines.append(line)
        if all(word in line for word in words.split("*")):
            return
    raise AssertionError(f"it never said {words!r} but {''.join(lines)}")


ENDLESS: dict[str, dict[str, object]] = {
    "installing": {"download_seconds": 60},
    "booting": {"never": "boots"},
}
OFTEN = (("booting", signal.SIGTERM, "2"),)
ALWAYS = (
    *OFTEN,
    ("installing", signal.SIGINT, "0"),
    ("testing", signal.SIGTERM, "0"),
    ("installing", signal.SIGTERM, "2"),
    ("booting", signal.SIGINT, "0"),
    ("booting", signal.SIGINT, "2"),
    ("booting", signal.SIGTERM, "0"),
    ("testing", signal.SIGINT, "0"),
)


@pytest.mark.parametrize(("moment", "number", "workers"), ALWAYS if IS_SOAK else OFTEN)
def test_a_run_that_gets_a_signal_ends_everything(
    pytester: pytest.Pytester,
    start_emulators: Start,
    bench: SdkBench,
    room: Room,
    moment: str,
    number: signal.Signals,
    workers: str,
) -> None:
    """Whether emulators are made, boot or are used: no process and no file is left."""
    pytester.makepyfile(WAITS)
    bench.behave(**ENDLESS.get(moment, {}))
    like = ("--claw-emulator", "api=33,abi=x86_64,image=google_apis")

    with start_emulators("-s", "-n", workers, *like, "--claw-device", "emulator:2") as run:
        await_line(run, MOMENTS[moment])
        run.send_signal(number)
        said, _ = run.communicate(timeout=DEADLINE)

    assert run.returncode == pytest.ExitCode.INTERRUPTED, said
    assert room.left() == []
