"""Back, home and recent apps."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import HOME, demo
from tests.simulator.screen.sample_apps import COUNTER, DEMO


def test_back_goes_screen_by_screen_and_out() -> None:
    """The last screen is left for home, and the app stays alive behind it."""
    phone = demo(COUNTER)
    phone.tap("Next")
    phone.tap("Again")

    titles = []
    for _ in range(3):
        phone.ui.keys.back()
        titles.append((phone.ui.view.foreground_package(), phone.ui.view.title()))

    assert titles == [(DEMO, "Next"), (DEMO, "Counter 0"), (HOME, None)]
    assert DEMO in phone.ui.processes.running_packages()
    phone.ui.keys.back()
    assert phone.ui.view.foreground_package() == HOME
