"""Looking at the screen."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import demo
from tests.simulator.screen.sample_apps import COUNTER


def test_unchanged_windows_are_not_built_again() -> None:
    """Looking twice gives the same objects; a change gives new ones."""
    phone = demo(COUNTER)
    first = phone.ui.view.windows()[0].root
    assert phone.ui.view.windows()[0].root is first
    version = phone.ui.view.version

    phone.tap("Add")

    assert phone.ui.view.windows()[0].root is not first
    assert phone.ui.view.version != version
