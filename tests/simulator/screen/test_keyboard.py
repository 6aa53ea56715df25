"""Typing: the focus, the keyboard's window, its keys, and what fields do with them."""

from __future__ import annotations

from tests.simulator.screen.phone import demo

DEMO = "com.example.demo"
LATIN = "com.google.android.inputmethod.latin"
SYSTEM_UI = "com.android.systemui"

FORM = """\
state: {name: "", sent: "", changes: 0}
screens:
  main:
    menu:
      - {icon_button: Write, on_tap: {focus: name}}
    items:
      - field: Name
        id: name
        bind: name
        on_change: {add: {changes: 1}}
        on_submit: {set: {sent: "{name}"}}
      - {field: Notes, id: notes, multiline: true}
      - {field: Locked, id: locked, enabled_if: "false"}
      - {text: "Sent {sent}, {changes} changes"}
      - {list: rows, items: [{row: "R{number}", repeat: 50}]}
"""


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


def test_keys_type() -> None:
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


def test_text_is_set_or_typed() -> None:
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


def test_a_field_of_several_lines() -> None:
    """Enter makes a new line there, and a newline in a field of one line becomes a space."""
    phone = demo(FORM)
    phone.tap_id("notes")
    phone.ui.typing.type_text("a")
    phone.ui.typing.enter()
    phone.ui.typing.type_text("b")
    phone.ui.nodes.set_text(phone.by_id("name"), "a\nb")

    assert phone.by_id("notes").text == "a\nb"
    assert phone.by_id("name").text == "a b"


def test_an_app_can_give_a_field_the_focus() -> None:
    """The action names the field by its id; the keyboard comes with it."""
    phone = demo(FORM)

    phone.tap("Write")

    assert phone.by_id("name").focused
    assert phone.ui.view.keyboard_shown


def test_accessibility_events() -> None:
    """What happens is told in Android's words, with its parts at hand."""
    phone = demo(FORM)
    phone.events.clear()

    phone.ui.nodes.click(phone.node("Write"))
    phone.ui.nodes.set_text(phone.by_id("name"), "Ann")
    phone.swipe_up(phone.by_id("rows"))
    phone.ui.keys.home()

    told = [event for event in phone.events if "CONTENT" not in event.type]
    assert [event.type for event in told] == [
        "TYPE_VIEW_CLICKED",
        "TYPE_VIEW_TEXT_CHANGED",
        "TYPE_VIEW_SCROLLED",
        "TYPE_WINDOW_STATE_CHANGED",
    ]
    clicked, typed, scrolled, _ = told
    assert clicked.startswith("EventType: TYPE_VIEW_CLICKED; EventTime: 1000000; PackageName: ")
    assert clicked.source is not None
    assert clicked.source.content_desc == "Write"
    assert typed.texts == ("Ann",)
    assert 0 < scrolled.scroll[1] < scrolled.scroll[3]
