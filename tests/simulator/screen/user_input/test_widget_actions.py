"""What touching a widget does to its app."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import Phone, screen_app


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
