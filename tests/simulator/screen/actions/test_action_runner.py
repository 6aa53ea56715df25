"""Running the actions of an app file."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import demo
from tests.simulator.screen.sample_apps import DEMO


def test_actions_that_call_each_other_crash_the_app() -> None:
    """Endless navigation ends as it does on a phone."""
    phone = demo("screens: {main: {on_open: {navigate: main}}}\n")

    assert phone.crashes[0][0] == DEMO
    assert "StackOverflowError" in phone.crashes[0][1]
    assert phone.has("Demo has stopped")
