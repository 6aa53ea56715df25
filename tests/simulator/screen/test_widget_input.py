"""What the user does to widgets."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import Phone, demo, screen_app
from tests.simulator.screen.sample_apps import FORM


def test_a_tap_toggles_switches_checkboxes_and_radio_buttons() -> None:
    """A tap toggles them; bound ones change their variable, others remember by themselves."""
    phone = Phone(
        screen_app(
            """\
            - {switch: Bound, checked: on, on_change: {add: {changes: 1}}}
            - {row: In a row, switch: on}
            - {checkbox: Own}
            - {switch: Derived, checked: not on}
            - {radio: Small, bind: size, value: s}
            - {radio: Large, bind: size, value: l, on_change: {add: {changes: 1}}}
            - {text: "{on} {size} {changes}"}
            """,
            "state: {on: false, size: s, changes: 0}\n",
        )
    )

    for text in ("Bound", "In a row", "Bound", "Own", "Derived", "Large", "Large"):
        phone.tap(text)

    assert phone.has("true l 3")
    checked = [n.text for n in phone.root.walk() if n.checkable and n.checked and n.text]
    assert checked == ["Bound", "Own", "Large"]


def test_a_tap_on_a_tab_selects_that_tab_only() -> None:
    """Exactly one tab is selected, and a tap on another chooses that."""
    phone = Phone(
        screen_app(
            """\
            - {tabs: [{tab: One, value: one}, {tab: Two, value: two}], bind: tab}
            - {text: First, visible_if: tab == 'one'}
            - {text: Second, visible_if: tab == 'two'}
            """,
            "state: {tab: one}\n",
        )
    )
    assert phone.has("First")

    phone.tap("Two")

    assert phone.has("Second")
    assert [n.content_desc for n in phone.root.walk() if n.selected and n.content_desc] == ["Two"]


def test_a_list_acts_on_each_scroll_and_at_its_end() -> None:
    """A list can act on each scroll, and when its end is reached."""
    phone = Phone(
        screen_app(
            """\
            - {text: "{scrolls} {more}"}
            - list: rows
              items: [{row: "R{number}", repeat: 20 + more}]
              on_scroll: {add: {scrolls: 1}}
              on_end: {add: {more: 10}}
            """,
            "state: {scrolls: 0, more: 0}\n",
        )
    )

    while not phone.has("R30"):
        phone.swipe_up(phone.by_id("rows"))

    assert phone.has("R30")
    phone.swipe_down(phone.by_id("rows"))
    assert not phone.has("R30")


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
