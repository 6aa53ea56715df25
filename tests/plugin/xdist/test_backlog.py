"""Tests that wait: in which order, and for whom, they are taken."""

from __future__ import annotations

from pytest_clawperator.plugin.workforce import ANY, Backlog

A, B = 1, 2


def every(devices: int) -> int:
    """Let all devices of a set be there."""
    return devices & (A | B)


def test_tests_of_few_devices_come_first() -> None:
    """Tests of few devices come first, then the longest, then as collected."""
    backlog = Backlog([1.0, 5.0, 5.0, 1.0])
    backlog.add(range(4), [A | B, A | B, A | B, A].__getitem__)

    taken = [backlog.take(A, free={A: 0.0, B: 0.0}, takers=every) for _ in range(5)]

    assert taken == [3, 1, 2, 0, None]
    assert len(backlog) == 0


def test_a_returned_test_gets_its_old_place() -> None:
    """A test that comes back gets its old place."""
    backlog = Backlog([3.0, 2.0, 1.0])
    backlog.add([0, 1, 2], lambda _: ANY)
    first = backlog.take(A, free={A: 0.0}, takers=every)

    backlog.add([0], lambda _: ANY)

    assert first == 0
    assert [backlog.take(A, free={A: 0.0}, takers=every) for _ in range(3)] == [0, 1, 2]


def test_left_to_others() -> None:
    """A busy worker gets nothing of the last tests when another does them sooner."""
    backlog = Backlog([3.0, 2.0])
    backlog.add([0, 1], lambda _: ANY)

    assert backlog.take(A, free={A: 9.0, B: 1.0}, takers=every) is None
    assert backlog.take(A, free={A: 3.0, B: 1.0}, takers=every) == 1


def test_work_of_others_alone() -> None:
    """What only another worker can do counts as its work."""
    backlog = Backlog([3.0, 8.0])
    backlog.add([0, 1], [A | B, B].__getitem__)

    assert backlog.take(A, free={A: 5.0, B: 0.0}, takers=every) == 0


def test_a_busy_worker_gets_a_short_test() -> None:
    """While much is left, a worker with a long test gets a short one behind it."""
    backlog = Backlog([3.0, 2.0, 1.0, 2.0])
    backlog.add(range(4), lambda _: ANY)

    assert backlog.take(A, free={A: 99.0, B: 1.0}, takers=every) == 2


def test_sets_of_devices_can_be_dropped() -> None:
    """The sets of devices that are waited for are known, and can be dropped."""
    backlog = Backlog([1.0, 1.0, 1.0])
    backlog.add([0, 1, 2], [A, B, A].__getitem__)

    dropped = backlog.drop(A)

    assert dropped == [0, 2]
    assert backlog.sets == [B]
    assert backlog.drop() == [1]
