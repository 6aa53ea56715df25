"""The display, and the time on a phone."""

from __future__ import annotations

from pytest_clawperator.simulator.apps.load import shipped_apps
from pytest_clawperator.simulator.screen.display import Timeline
from tests.doubles.simulator.screen_phone import SETTINGS, Phone, demo, screen_app
from tests.simulator.screen.sample_apps import COUNTER, LONG_LIST


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


def test_turning_the_phone_swaps_width_and_height() -> None:
    """The screen is as wide as it was high, the same app is in front, and it fills it."""
    phone = demo(COUNTER)
    version = phone.ui.view.version

    phone.ui.display.rotation = 1

    assert phone.ui.display.size == (2400, 1080)
    assert phone.root.bounds == (0, 0, 2400, 1080)
    assert phone.ui.view.version != version
    phone.tap("Add")
    assert phone.has("Count 1, best 1")


def test_dark_density_and_size_each_change_the_version() -> None:
    """Dark, density and size make the screen look different."""
    phone = demo(COUNTER)
    versions = [phone.ui.view.version]

    phone.ui.display.dark = True
    versions.append(phone.ui.view.version)
    phone.ui.display.density = 300
    versions.append(phone.ui.view.version)
    phone.ui.display.resize((720, 1280))
    versions.append(phone.ui.view.version)

    assert len(set(versions)) == 4
    assert phone.root.bounds == (0, 0, 720, 1280)


def test_sizes_grow_with_the_screen() -> None:
    """Twice as many pixels at twice the density show the same, twice as big."""
    small, big = (
        Phone(*shipped_apps(), start=SETTINGS, size=(540 * factor, 1200 * factor))
        for factor in (1, 2)
    )

    before, after = small.node("Display").bounds, big.node("Display").bounds
    assert (small.ui.display.density, big.ui.display.density) == (210, 420)
    assert all(abs(2 * a - b) <= 12 for a, b in zip(before, after, strict=True))


def test_a_higher_density_shows_less_of_a_list() -> None:
    """A higher density makes everything bigger, so less of a list shows."""
    usual, dense = (Phone(screen_app(LONG_LIST), density=density) for density in (420, 600))

    assert len(dense.by_id("rows").children) < len(usual.by_id("rows").children)
