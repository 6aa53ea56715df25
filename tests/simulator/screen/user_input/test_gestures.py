"""How far a finger moves a list."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.screen.touch import Drag, fling


def test_a_fast_swipe_runs_on() -> None:
    """The faster the finger, the further the list runs; a slow one stops where it is let go."""
    runs = [fling(600, duration_ms=ms, density=420) for ms in (100, 250, 1000, 20_000)]

    assert runs == sorted(runs, reverse=True)
    assert runs[1] == pytest.approx(436, abs=15)
    assert runs[-1] == 0


def test_a_swipe_down_goes_as_far_as_a_swipe_up() -> None:
    """Downwards is as far as upwards, the other way."""
    up = Drag((500, 1500), (500, 900), duration_ms=250, density=420)
    down = Drag((500, 900), (500, 1500), duration_ms=250, density=420)

    assert up.reach == -down.reach > 600
    assert not up.horizontal


def test_a_trembling_finger_presses() -> None:
    """Less than the touch slop is no movement; how long it stays makes it a long press."""
    short = Drag((5, 5), (15, 5), duration_ms=100, density=420)
    long = Drag((5, 5), (15, 5), duration_ms=500, density=420)
    moving = Drag((5, 5), (40, 5), duration_ms=500, density=420)

    assert [drag.is_press for drag in (short, long, moving)] == [True, True, False]
    assert (short.is_long, long.is_long, moving.horizontal) == (False, True, True)
