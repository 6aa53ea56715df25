"""Time limits of a command."""

from __future__ import annotations

import asyncio

import pytest

from pytest_clawperator.simulator.operator.run import RunTime, TimeLimitReached
from pytest_clawperator.simulator.phone_clock import PhoneClock


def test_the_first_limit_counts() -> None:
    """Of several limits the earliest ends a pause, at its moment."""
    clock = PhoneClock(lambda: 0.0, time_scale=0.0)
    time = RunTime(clock)

    async def pause() -> None:
        with time.limit(900), time.limit(400) as inner:
            await time.pause(300)
            with pytest.raises(TimeLimitReached) as caught:
                await time.pause(300)
        assert caught.value.limit is inner
        await time.pause(1000)

    asyncio.run(pause())

    assert clock.now() == pytest.approx(1400)
