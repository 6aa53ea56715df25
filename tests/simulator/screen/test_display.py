"""The display, and the time on a phone."""

from __future__ import annotations

from pytest_clawperator.simulator.apps.load import shipped_apps
from pytest_clawperator.simulator.screen.display import Timeline
from tests.doubles.simulator.screen_phone import SETTINGS, Phone, demo
from tests.simulator.screen.sample_apps import COUNTER


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def test_calls_are_made_in_order_each_at_its_time() -> None:
    """Earlier ones first, then those planned first; those of a cancelled owner are dropped."""
    clock = Clock()
    timeline, made = Timeline(clock), list[tuple[str, float]]()
    for due, name in ((3.0, "c"), (1.0, "a"), (1.0, "b"), (2.0, "dropped"), (9.0, "z")):
        timeline.at(due, lambda name=name: made.append((name, timeline.now)), owner=name)  # type: ignore[misc]  # bound at once

    timeline.cancel("dropped")
    clock.now = 5.0
    timeline.advance()
    clock.now = 1.0  # the phone's time never goes back
    timeline.advance()

    assert made == [("a", 1.0), ("b", 1.0), ("c", 3.0)]
    assert timeline.now == 5.0


def test_a_call_that_plans_itself_again_ends_for_now() -> None:
    """A call that is always due again is made a limited number of times."""
    timeline, count = Timeline(Clock()), list[int]()

    def again() -> None:
        count.append(1)
        timeline.after(0, again, owner=None)

    again()
    timeline.advance()

    assert 100 < len(count) < 10_000


def test_each_change_of_the_display_changes_what_shows() -> None:
    """Turning swaps width and height; dark, density and size make the screen look different."""
    phone = demo(COUNTER)
    versions = [phone.ui.view.version]

    phone.ui.display.rotation = 1
    versions.append(phone.ui.view.version)
    assert phone.ui.display.size == (2400, 1080)
    assert phone.root.bounds == (0, 0, 2400, 1080)
    phone.ui.display.rotation = 4
    for name, value in (("dark", True), ("density", 300), ("font_scale", 9.0)):
        setattr(phone.ui.display, name, value)
        versions.append(phone.ui.view.version)
    phone.ui.display.resize((720, 1280))
    versions.append(phone.ui.view.version)

    assert len(set(versions)) == 6
    assert phone.ui.display.font_scale == 5.0
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
