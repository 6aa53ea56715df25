"""How long a command takes from its start to its exit: a snapshot of a simulated phone.

As a ratio to an empty Python program, measured alternately; the machine's own speed cancels out.
If ``CLAWPERATOR_PUBLISHED_CLI`` names the published program, also as a ratio to that, on the same
phone. Modules are compiled before, as in an installed package.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from benchmarks.measuring import median_spread, show
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb_program import find_adb

PUBLISHED = "CLAWPERATOR_PUBLISHED_CLI"
PAIRS, WARM_UP = 20, 2
LIMIT = 0.6
SNAPSHOT = [sys.executable, "-m", "pytest_clawperator", "snapshot"]
NOTHING = [sys.executable, "-c", "pass"]


def environment(simulator: Simulator) -> dict[str, str]:
    """Return an environment in which the phone is the only one, and compiled modules are kept."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    port = str(simulator.adb_port)
    return {**kept, "ANDROID_ADB_SERVER_PORT": port, "ADB_PATH": str(find_adb())}


def took(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return how many seconds a command takes from its start to its exit."""
    begin = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def pairs(
    subject: Sequence[str], baseline: Sequence[str], environment: Mapping[str, str]
) -> tuple[list[float], list[float]]:
    """Return the seconds of both commands, each first in every other pair."""
    for command in (subject, baseline) * WARM_UP:
        took(command, environment)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(PAIRS):
        order = [(ours, subject), (theirs, baseline)]
        for seconds, command in order if number % 2 else reversed(order):
            seconds.append(took(command, environment))
    return ours, theirs


def compare(name: str, baseline: Sequence[str], simulator: Simulator, asked: str = "") -> None:
    """Print how long a snapshot takes, and how that compares."""
    ours, theirs = pairs(SNAPSHOT, baseline, environment(simulator))
    ratios = [one / two for one, two in zip(ours, theirs, strict=True)]
    middle = f"{statistics.median(ours) * 1000:.0f} ms, {statistics.median(theirs) * 1000:.0f} ms"
    show(f"snapshot, and {name}", middle)
    figure = f"{statistics.median(ratios):.2f} x +- {median_spread(ratios):.2f}"
    show(f"snapshot, to {name}", figure, asked)
    # What else runs on the machine prolongs the one that computes more than the one that waits.
    show(f"snapshot, to {name}, best of each", f"{min(ours) / min(theirs):.2f} x", asked)


def main() -> None:
    """Print three lines for each comparison."""
    published = os.environ.get(PUBLISHED)
    with Simulator(devices=1) as simulator:
        compare("an empty program", NOTHING, simulator)
        if published:
            compare("the published one", [published, "snapshot"], simulator, f"<= {LIMIT} x")


if __name__ == "__main__":
    main()
