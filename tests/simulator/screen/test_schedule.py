"""What is due when."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.state.timeline import Schedule


def test_things_are_done_in_order_each_at_its_time() -> None:
    """Earlier first, then what was planned first; what is not yet due waits."""
    schedule, done, times = Schedule(), list[str](), list[float]()
    for due, name in ((3, "c"), (1, "a"), (1, "b"), (9, "z")):
        schedule.add(due, lambda name=name: done.append(name), owner=None)  # type: ignore[misc]  # bound at once

    assert schedule.run_until(5, times.append)

    assert (done, times) == (["a", "b", "c"], [1, 1, 3])
    assert schedule.next_due() == 9
    assert not schedule.run_until(5, times.append)


def test_what_belongs_to_something_goes_with_it() -> None:
    """Cancelling an owner drops what is its own and nothing else."""
    schedule, done = Schedule(), list[str]()
    mine, yours = object(), object()
    schedule.add(1, lambda: done.append("mine"), owner=mine)
    schedule.add(2, lambda: done.append("yours"), owner=yours)

    schedule.cancel(mine)
    schedule.run_until(5, lambda now: None)

    assert done == ["yours"]
    assert schedule.next_due() is None


def test_what_plans_itself_anew_ends_for_now() -> None:
    """A thing that is always due again is done a bounded number of times a call."""
    schedule, count = Schedule(), list[int]()

    def again() -> None:
        count.append(1)
        schedule.add(0, again, owner=None)

    again()
    schedule.run_until(1, lambda now: None)

    assert 100 < len(count) < 10_000
