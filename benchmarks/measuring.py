"""What the benchmarks share: timing, ratios of alternating pairs, and printing."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence

Clock = Callable[[], float]

WALL: Clock = time.perf_counter
#: For work that this process does alone: other load on the machine does not count.
CPU: Clock = time.process_time


def seconds(run: Callable[[], object], *, repeats: int = 1, clock: Clock = WALL) -> float:
    """Return how long a function takes, called this many times in a row."""
    start = clock()
    for _ in range(repeats):
        run()
    return clock() - start


def median_ratio(
    subject: Callable[[], object],
    baseline: Callable[[], object],
    *,
    pairs: int,
    repeats: int = 1,
    clock: Clock = WALL,
) -> float:
    """Return the median ratio of two durations, measured alternately."""

    def measured(run: Callable[[], object]) -> float:
        return seconds(run, repeats=repeats, clock=clock)

    gc.disable()
    try:
        return statistics.median(measured(subject) / measured(baseline) for _ in range(pairs))
    finally:
        gc.enable()


def median_spread(values: Sequence[float]) -> float:
    """Return the half-width of the 95 % confidence interval of a median.

    By order statistics: no assumption is made about how the values are distributed.
    """
    ordered = sorted(values)
    distance = 0.98 * math.sqrt(len(ordered))
    low = max(0, math.floor(len(ordered) / 2 - distance))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + distance))
    return (ordered[high] - ordered[low]) / 2


def show(name: str, figure: str, asked: str = "") -> None:
    """Print one figure beside what is asked."""
    print(f"{name:44} {figure:>24}" + (f"   (asked: {asked})" if asked else ""), flush=True)
