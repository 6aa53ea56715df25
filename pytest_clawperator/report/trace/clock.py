"""The time of traces: that of the machine, also in tests that set or freeze the time of Python."""

from __future__ import annotations

import time

# Tests replace time.time and time.monotonic; nothing replaces what is beneath them.
_HAS_CLOCKS = hasattr(time, "clock_gettime")


def now() -> float:
    """Return the seconds since the epoch."""
    return time.clock_gettime(time.CLOCK_REALTIME) if _HAS_CLOCKS else time.time()


def ticks() -> float:
    """Return seconds that only grow, for durations."""
    return time.clock_gettime(time.CLOCK_MONOTONIC) if _HAS_CLOCKS else time.monotonic()
