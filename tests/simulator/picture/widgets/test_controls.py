"""Buttons, fields, switches and checkboxes."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.screen.accessibility import Bounds, Window
from tests.simulator.picture.drawing import (
    BOX,
    PACKAGE,
    app,
    brightness,
    changed,
    inside,
    node,
    picture,
    png,
)


@pytest.mark.parametrize("kind", ["switch", "checkbox", "radio", "chip"])
def test_on_and_off_can_be_told_apart(kind: str) -> None:
    """On and off can be told apart, and the difference is the widget's own."""
    off, on = (picture(app(node(kind, text="Label", checked=state))) for state in (False, True))

    assert inside(changed(off, on), BOX)


def test_passwords_are_not_drawn() -> None:
    """A password shows how long it is, nothing else."""

    def field(text: str) -> bytes:
        return png(app(node("textfield", text=text, hint="Password", password=True)))

    assert field("secret") == field("qwerty")
    assert field("secret") != field("secrets")
    assert field("Password") == field("")


def test_a_hint_is_fainter_than_text() -> None:
    """A field that tells its hint as its text is empty, and looks it."""
    hint = picture(app(node("textfield", text="Name", hint="Name")))
    text = picture(app(node("textfield", text="Name", hint="Other")))

    assert brightness(hint, BOX) > brightness(text, BOX)


def test_buttons_of_a_dialog_are_flat() -> None:
    """In a dialog a button is its text; on a screen it is a filled shape."""
    dialog = node("dialog", Bounds(40, 300, 500, 600))
    dialog.add(node("button", text="OK"))
    in_dialog = picture(app(), Window("application", PACKAGE, dialog, active=True))

    assert brightness(in_dialog, BOX) > brightness(picture(app(node("button", text="OK"))), BOX)


def test_the_caret_stands_beside_the_hint() -> None:
    """In a focused field that is empty, the caret is drawn where no letter of the hint is."""
    without_hint = picture(app(node("textfield", hint="", focused=True)))
    plain = picture(app(node("textfield", hint="IIII")))
    focused = picture(app(node("textfield", hint="IIII", focused=True)))
    bare = picture(app(node("textfield", hint="")))
    inner = Bounds(BOX.left + 12, BOX.top + 8, BOX.right - 12, BOX.bottom - 8)

    caret = changed(bare.crop(inner), without_hint.crop(inner))
    hint = changed(bare.crop(inner), plain.crop(inner))

    assert caret is not None
    assert hint is not None
    assert caret.right <= hint.left
    assert changed(plain.crop(inner), focused.crop(inner)) == caret
