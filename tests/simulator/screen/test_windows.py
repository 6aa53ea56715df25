"""The windows of the screen."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import demo
from tests.simulator.screen.sample_apps import COUNTER, DEMO, FORM, SYSTEM_UI

LATIN = "com.google.android.inputmethod.latin"


def test_the_keyboard_is_a_window_of_its_own() -> None:
    """A tap on a field brings it up, above the app, whose content makes room; back closes it."""
    phone = demo(FORM)
    assert phone.window_packages() == [DEMO, SYSTEM_UI]
    bottom = phone.by_id("rows").bounds.bottom

    phone.tap_id("name")

    assert phone.window_packages() == [DEMO, LATIN, SYSTEM_UI]
    keyboard = phone.ui.view.windows()[1]
    assert keyboard.type == "input_method"
    assert phone.root.package == DEMO
    assert phone.by_id("name").focused
    assert phone.by_id("rows").bounds.bottom == keyboard.root.bounds.top < bottom
    phone.ui.keys.back()
    assert not phone.ui.view.keyboard_shown
    assert phone.ui.view.title() is None
    assert phone.ui.view.foreground_package() == DEMO


def test_unchanged_windows_are_not_built_again() -> None:
    """Looking twice gives the same objects; a change gives new ones."""
    phone = demo(COUNTER)
    first = phone.ui.view.windows()[0].root
    assert phone.ui.view.windows()[0].root is first
    version = phone.ui.view.version

    phone.tap("Add")

    assert phone.ui.view.windows()[0].root is not first
    assert phone.ui.view.version != version
