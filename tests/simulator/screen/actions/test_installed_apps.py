"""Installing and removing apps."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import HOME, app, demo
from tests.simulator.screen.sample_apps import COUNTER, DEMO


def test_an_app_comes_and_goes_with_its_icon() -> None:
    """An app comes and goes with its icon; a new version keeps what was saved."""
    phone = demo(COUNTER)
    phone.tap("Add")
    phone.ui.apps.install(app(COUNTER))
    phone.ui.launching.start_app(DEMO)
    assert phone.has("Count 0, best 1")

    assert phone.ui.apps.uninstall(DEMO)

    assert not phone.ui.apps.uninstall(DEMO)
    assert phone.ui.view.foreground_package() == HOME
    assert not phone.has("Demo")
    assert not phone.ui.launching.start_app(DEMO)
    assert DEMO not in phone.ui.apps
