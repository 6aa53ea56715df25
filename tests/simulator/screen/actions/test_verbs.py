"""What the verbs of app files do."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import demo
from tests.simulator.screen.sample_apps import FORM


def test_an_app_can_give_a_field_the_focus() -> None:
    """The action names the field by its id; the keyboard comes with it."""
    phone = demo(FORM)

    phone.tap("Write")

    assert phone.by_id("name").focused
    assert phone.ui.view.keyboard_shown
