"""Snackbars and toasts."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import demo
from tests.simulator.screen.sample_apps import DEMO, SYSTEM_UI, TIMED


def test_a_snackbar_and_a_toast_vanish() -> None:
    """One is part of the app's window for a while, the other a window of the system."""
    phone = demo(TIMED)
    phone.tap("Later")
    assert not phone.has("Hello")
    phone.wait(0.4)
    assert phone.has("Hello")
    phone.wait(1.5)
    assert phone.has("Hello")
    phone.wait(1.3)
    assert not phone.has("Hello")

    phone = demo(TIMED)
    phone.tap("Toast")
    toast = phone.ui.view.windows()[1]
    assert (toast.type, toast.package, toast.active) == ("system", SYSTEM_UI, False)
    assert [node.text for node in toast.root.walk() if node.text] == ["Crunch"]
    assert not phone.has("Crunch")
    phone.wait(3.5)
    assert phone.window_packages() == [DEMO, SYSTEM_UI]
