"""The phone's clock: scaled pauses count in full."""

from __future__ import annotations

import asyncio

import pytest

from pytest_clawperator.simulator.phone_clock import PhoneClock


class FakeLoopTime:
    """A clock that goes on exactly by what is slept."""

    def __init__(self, speed: float = 1.0) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self._speed = speed

    async def sleep(self, seconds: float) -> None:
        """Go on."""
        self.slept.append(seconds)
        self.now += seconds * self._speed


@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("is_fast_clock", [False, True])
def test_a_pause_counts_in_full(
    monkeypatch: pytest.MonkeyPatch, scale: float, is_fast_clock: bool
) -> None:
    """However short a pause really is, the clock goes on by its length.

    That holds for a clock of the real time, and for one that is sped up already.
    """
    world = FakeLoopTime(1 / scale if scale and is_fast_clock else 1.0)
    clock = PhoneClock(lambda: world.now, time_scale=scale)
    monkeypatch.setattr(asyncio, "sleep", world.sleep)

    asyncio.run(clock.sleep(5000))

    assert world.slept == [5 * scale]
    assert clock.seconds() == pytest.approx(105.0)


def test_a_slow_phone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses can be stretched, too; then time goes by as it really did."""
    world = FakeLoopTime()
    clock = PhoneClock(lambda: world.now, time_scale=2.0)
    monkeypatch.setattr(asyncio, "sleep", world.sleep)

    asyncio.run(clock.sleep(1000))

    assert clock.seconds() == 102.0


def test_waiting_for_a_task_until_a_moment() -> None:
    """The pause of another task can bring the moment about."""
    clock = PhoneClock(lambda: 0.0, time_scale=0.0)

    async def wait() -> bool:
        never = asyncio.create_task(asyncio.Event().wait())
        waiting = asyncio.create_task(clock.is_done_before(1500, never))
        while not waiting.done():
            await clock.sleep(1000)
        never.cancel()
        return waiting.result()

    assert asyncio.run(wait()) is False
