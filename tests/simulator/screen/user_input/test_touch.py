"""What taps, long presses and swipes do."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import Phone, demo, screen_app
from tests.simulator.screen.sample_apps import COUNTER


def test_a_tap_goes_to_the_innermost_thing_that_takes_it() -> None:
    """A text in a clickable row is tapped with the row; beside everything nothing happens."""
    phone = Phone(
        screen_app(
            """\
            - card:
                - {text: Inside}
                - {button: Own, on_tap: {add: {count: 10}}}
              on_tap: {add: {count: 1}}
            - {text: "Count {count}"}
            """,
            "state: {count: 0}\n",
        )
    )

    phone.tap("Inside")
    assert phone.has("Count 1")
    phone.tap("Own")
    assert phone.has("Count 11")
    phone.tap("Count 11")
    assert phone.has("Count 11")


def test_what_is_disabled_takes_the_touch_and_does_nothing() -> None:
    """Neither a tap nor a click does anything to it, and only the click says so."""
    phone = demo(COUNTER)
    phone.tap("Add")

    phone.tap("Never")

    assert not phone.ui.nodes.click(phone.node("Never"))
    assert phone.has("Count 1, best 1")


def test_a_gesture_returns_whether_it_met_the_screen() -> None:
    """A gesture is delivered wherever it hits the screen, and nowhere else."""
    ui = demo(COUNTER).ui

    assert ui.touch.tap(5, 2395)
    assert ui.touch.swipe((5, 2000), (5, 5000))
    assert [ui.touch.tap(-1, 5), ui.touch.tap(1080, 5), ui.touch.long_press(5, 2400)] == [False] * 3
    assert not ui.touch.swipe((2000, 5), (5, 5))


def test_a_long_press_is_a_click_for_what_takes_no_long_press() -> None:
    """Who listens for it gets it; for others it is a click."""
    phone = demo(COUNTER)

    assert not phone.ui.nodes.long_click(phone.node("Add"))
    assert phone.ui.touch.long_press(*phone.node("Add").bounds.centre)
    assert phone.has("Count 1, best 1")
    assert phone.ui.touch.long_press(*phone.node("Hold me").bounds.centre)
    assert phone.has("Count 50, best 1")
    assert phone.ui.nodes.long_click(phone.node("Hold me"))


def test_a_swipe_that_does_not_move_is_a_press() -> None:
    """As with `input swipe x y x y 800`, which testers use for a long press."""
    phone = demo(COUNTER)
    at = phone.node("Hold me").bounds.centre

    phone.ui.touch.swipe(at, at, duration_ms=100)
    assert phone.has("Count 0, best 0")
    phone.ui.touch.swipe(at, (at[0] + 3, at[1]), duration_ms=800)

    assert phone.has("Count 50, best 0")


def test_an_inner_list_at_its_end_lets_the_outer_one_move() -> None:
    """A swipe goes to the innermost list that can still move that way."""
    phone = Phone(
        screen_app(
            """\
            - list: outer
              items:
                - {list: inner, height: 200, items: [{text: "I{number}", repeat: 12}]}
                - {row: "O{number}", repeat: 30}
            """
        )
    )
    x, y = phone.by_id("inner").bounds.centre

    phone.ui.touch.swipe((x, y), (x, y - 400))
    assert phone.has("O1")
    assert not phone.has("I1")
    for _ in range(5):
        phone.ui.touch.swipe((x, y), (x, 100))

    assert not phone.has("O1")
