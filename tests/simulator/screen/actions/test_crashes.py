"""Apps that crash."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import HOME, demo
from tests.simulator.screen.sample_apps import DEMO, DIALOGS


def test_a_crash_kills_the_app_and_shows_that_it_stopped() -> None:
    """The app dies, whoever listens is told, and Android says so until it is closed."""
    phone = demo(DIALOGS)

    phone.tap("Crash")

    assert phone.crashes == [(DEMO, "java.lang.Error: boom")]
    assert DEMO not in phone.ui.processes.running_packages()
    window = phone.ui.view.windows()[1]
    assert (window.type, window.package, window.active) == ("system", "android", True)
    phone.tap("Close app")
    assert phone.ui.view.foreground_package() == HOME
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Answer none")
