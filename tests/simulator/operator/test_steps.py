"""What steps share: retries and pauses."""

from __future__ import annotations

import asyncio

import pytest

from tests.simulator.operator.fakes import MISSING, Bench


def delays(bench: Bench) -> list[int]:
    """List the pauses that the log announces."""
    return [int(line.rpartition("delayMs=")[2]) for line in bench.lines() if "delayMs=" in line]


def test_the_default_delay_doubles_up_to_three_seconds() -> None:
    """The preset has 15 percent of jitter, which comes from the seed."""
    first, second, other = Bench(seed=7), Bench(seed=7), Bench(seed=8)
    for bench in (first, second, other):
        bench.step("click", matcher=MISSING)

    assert delays(first) == delays(second) != delays(other)
    assert delays(first) == [pytest.approx(delay, rel=0.15) for delay in (500, 1000, 2000, 3000)]


def test_a_retry_object_decides_the_delays() -> None:
    """A retry object is followed to the letter."""
    bench = Bench()
    retry = {"maxAttempts": 4, "initialDelayMs": 100, "maxDelayMs": 250, "backoffMultiplier": 2}

    bench.step("wait_for_node", matcher=MISSING, retry=retry)

    assert delays(bench) == [100, 200, 250]


def test_a_timeout_shortens_the_wait() -> None:
    """wait_for_node gives up in the middle of a pause when its time is over."""
    bench = Bench()

    bench.step("wait_for_node", matcher=MISSING, timeoutMs=900)

    assert bench.ui.looks == 2


def test_pauses_are_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time scale shortens what is really slept, and nothing else."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    bench = Bench(time_scale=0.1)
    monkeypatch.setattr(asyncio, "sleep", sleep)

    bench.step("sleep", durationMs=3000)

    assert slept == [pytest.approx(0.3)]
    assert any("requested_ms=3000, elapsed_ms=3000" in line for line in bench.lines())
