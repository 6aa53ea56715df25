"""Each kind of widget, drawn."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.screen.accessibility import Bounds, Window
from tests.simulator.picture.drawing import (
    BOX,
    KINDS_WITH_LABEL,
    PACKAGE,
    app,
    brightness,
    changed,
    inside,
    keyboard,
    node,
    picture,
    png,
    shown,
)


@pytest.mark.parametrize("kind", ["switch", "checkbox", "radio", "chip"])
def test_on_and_off_can_be_told_apart(kind: str) -> None:
    """On and off differ, and only within the widget."""
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
    """A field that reports its hint as its text is drawn as empty."""
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


def test_a_keyboard_covers_its_part_of_the_screen() -> None:
    """The keyboard's window changes its own bounds, all of them."""
    part = changed(picture(app()), picture(app(), keyboard("q", "Shift", "Enter", "Space")))

    assert part == Bounds(0, 860, 540, 1200)


@pytest.mark.parametrize("label", ["q", "Shift", "Delete", "Enter", "Symbol keyboard", "?"])
def test_keys_show_what_they_do(label: str) -> None:
    """Each key differs from the space bar, inside its bounds."""
    part = changed(picture(app(), keyboard("Space")), picture(app(), keyboard(label)))

    assert inside(part, Bounds(0, 900, 60, 970))


@pytest.mark.parametrize("kind", KINDS_WITH_LABEL)
@pytest.mark.parametrize(
    ("bounds", "dark"),
    [
        (BOX, False),
        (Bounds(100, 300, 148, 348), True),
        (Bounds(0, 500, 540, 760), False),
        (Bounds(7, 9, 40, 21), True),
    ],
)
def test_widgets_stay_in_their_bounds(kind: str, bounds: Bounds, dark: bool) -> None:
    """Whatever a widget says, every pixel of it lies inside the bounds that a snapshot gives."""
    widget = node(kind, bounds, text="A rather long label that cannot fit in here", selected=True)

    assert inside(shown(widget, dark=dark), bounds)


@pytest.mark.parametrize("kind", ["row", "divider", "tab_bar"])
def test_containers_stay_in_their_bounds(kind: str) -> None:
    """So does what holds other widgets."""
    assert inside(shown(node(kind, text="Label", focused=True)), BOX)


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("button", "enabled"),
        ("switch", "enabled"),
        ("text", "enabled"),
        ("textfield", "focused"),
        ("tab", "selected"),
        ("row", "selected"),
        ("chip", "selected"),
    ],
)
def test_disabled_focused_and_selected_widgets_look_so(kind: str, flag: str) -> None:
    """Disabled, focused and selected widgets look so."""
    states: list[dict[str, Any]] = [{flag: False}, {flag: True}]

    off, on = (picture(app(node(kind, text="Label", **state))) for state in states)

    assert inside(changed(off, on), BOX)
