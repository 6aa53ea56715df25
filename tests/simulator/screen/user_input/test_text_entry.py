"""Typing into fields."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import demo
from tests.simulator.screen.sample_apps import FORM


def test_each_key_of_the_keyboard_types_itself() -> None:
    """Each key types itself, capitals after shift, symbols from the other page."""
    phone = demo(FORM)
    phone.tap_id("name")

    def press(name: str) -> None:
        keys = phone.ui.view.windows()[1].root.children
        key = next(key for key in keys if key.content_desc == name)
        assert phone.ui.touch.tap(*key.bounds.centre)

    for name in ("Shift", "H", "i", "Space", "x", "Delete", "Symbol keyboard", "7", "!"):
        press(name)
    assert phone.by_id("name").text == "Hi 7!"
    press("Enter")

    assert phone.has("Sent Hi 7!, 7 changes")
    assert not phone.ui.view.keyboard_shown


def test_setting_replaces_text_and_typing_appends() -> None:
    """Setting replaces, typing appends where the focus is, and each change is noticed."""
    phone = demo(FORM)
    phone.ui.typing.type_text("lost")
    assert phone.ui.nodes.set_text(phone.by_id("name"), "Ann")
    phone.ui.nodes.focus(phone.by_id("name"))
    assert not phone.ui.view.keyboard_shown

    phone.ui.typing.type_text(" Lee")
    phone.ui.typing.backspace()
    phone.ui.typing.enter()

    assert phone.has("Sent Ann Le, 3 changes")
    assert not phone.ui.nodes.set_text(phone.by_id("locked"), "x")
    assert not phone.ui.nodes.set_text(phone.node("R1"), "x")


def test_enter_makes_a_new_line_in_a_field_of_several_lines() -> None:
    """Enter makes a new line there, and a newline in a field of one line becomes a space."""
    phone = demo(FORM)
    phone.tap_id("notes")
    phone.ui.typing.type_text("a")
    phone.ui.typing.enter()
    phone.ui.typing.type_text("b")
    phone.ui.nodes.set_text(phone.by_id("name"), "a\nb")

    assert phone.by_id("notes").text == "a\nb"
    assert phone.by_id("name").text == "a b"
