"""The phone's time, and calls that are due at some time of it."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.display import Timeline


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def test_calls_are_made_in_order_each_at_its_time() -> None:
    """Earlier ones first, then those planned first; what is not yet due waits."""
    clock = Clock()
    timeline, made = Timeline(clock), list[tuple[str, float]]()
    for due, name in ((3.0, "c"), (1.0, "a"), (1.0, "b"), (9.0, "z")):
        timeline.at(due, lambda name=name: made.append((name, timeline.now)), owner=None)  # type: ignore[misc]  # bound at once

    clock.now = 5.0
    timeline.advance()

    assert made == [("a", 1.0), ("b", 1.0), ("c", 3.0)]
    assert timeline.now == 5.0
    timeline.advance()
    assert len(made) == 3


def test_cancelling_an_owner_drops_its_calls_only() -> None:
    """What belongs to something goes with it, and nothing else does."""
    clock = Clock()
    timeline, made = Timeline(clock), list[str]()
    mine, yours = object(), object()
    timeline.after(1, lambda: made.append("mine"), owner=mine)
    timeline.after(2, lambda: made.append("yours"), owner=yours)

    timeline.cancel(mine)
    clock.now = 5.0
    timeline.advance()

    assert made == ["yours"]


def test_a_call_that_plans_itself_anew_ends_for_now() -> None:
    """A call that is always due again is made a limited number of times."""
    timeline, count = Timeline(Clock()), list[int]()

    def again() -> None:
        count.append(1)
        timeline.after(0, again, owner=None)

    again()
    timeline.advance()

    assert 100 < len(count) < 10_000


def test_time_never_goes_back() -> None:
    """A clock that was set back leaves the phone's time where it is."""
    clock = Clock()
    clock.now = 5.0
    timeline = Timeline(clock)

    clock.now = 1.0
    timeline.advance()

    assert timeline.now == 5.0
