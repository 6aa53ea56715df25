"""Size, density, rotation and dark mode."""

from __future__ import annotations

from pytest_clawperator.simulator.apps.load import shipped_apps
from tests.doubles.simulator.screen_phone import SETTINGS, Phone, demo, screen_app
from tests.simulator.screen.sample_apps import COUNTER, LONG_LIST


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
