"""Touches at points of the screen."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.screen.touch import fling
from tests.doubles.simulator.screen_phone import Phone, demo, screen_app
from tests.simulator.screen.sample_apps import COUNTER


def test_a_fast_swipe_runs_on() -> None:
    """The faster the finger, the further the list runs; a slow one stops where it is let go."""
    runs = [fling(600, duration_ms=ms, density=420) for ms in (100, 250, 1000, 20_000)]

    assert runs == sorted(runs, reverse=True)
    assert fling(-600, duration_ms=250, density=420) == -runs[1]
    assert runs[1] == pytest.approx(436, abs=15)
    assert runs[-1] == 0


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


def test_a_gesture_returns_whether_it_met_the_screen() -> None:
    """A gesture is delivered wherever it hits the screen, and nowhere else."""
    ui = demo(COUNTER).ui

    assert ui.touch.tap(5, 2395)
    assert ui.touch.swipe((5, 2000), (5, 5000))
    assert [ui.touch.tap(-1, 5), ui.touch.tap(1080, 5), ui.touch.long_press(5, 2400)] == [False] * 3
    assert not ui.touch.swipe((2000, 5), (5, 5))


def test_a_long_press_is_a_click_for_what_takes_no_long_press() -> None:
    """A widget without a long press takes it as a click; a disabled one takes nothing."""
    phone = demo(COUNTER)
    phone.tap("Never")
    assert not phone.ui.nodes.click(phone.node("Never"))
    assert phone.has("Count 0, best 0")

    assert not phone.ui.nodes.click(phone.node("Count 0, best 0"))
    assert not phone.ui.nodes.long_click(phone.node("Add"))
    assert phone.ui.touch.long_press(*phone.node("Add").bounds.centre)
    assert phone.has("Count 1, best 1")
    assert phone.ui.touch.long_press(*phone.node("Hold me").bounds.centre)
    assert phone.has("Count 50, best 1")
    assert phone.ui.nodes.long_click(phone.node("Hold me"))
    gone = phone.node("Add")
    phone.tap("Next")
    assert not phone.ui.nodes.click(gone)


def test_a_swipe_that_does_not_move_is_a_press() -> None:
    """As with `input swipe x y x y 800`, which testers use for a long press."""
    phone = demo(COUNTER)
    at = phone.node("Hold me").bounds.centre

    phone.ui.touch.swipe(at, at, duration_ms=100)
    assert phone.has("Count 0, best 0")
    phone.ui.touch.swipe(at, (at[0] + 40, at[1]), duration_ms=800)
    assert phone.has("Count 0, best 0")
    phone.ui.touch.swipe(at, (at[0] + 10, at[1]), duration_ms=800)

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


def test_the_second_of_two_quick_taps_is_a_double_tap() -> None:
    """It goes to who listens for it, if it comes in time and to the same place."""
    phone = Phone(
        screen_app(
            """\
            - {text: Photo, on_double_tap: {add: {likes: 1}}}
            - {button: Both, on_tap: {add: {taps: 1}}, on_double_tap: {add: {likes: 10}}}
            - {button: Taps, on_tap: {add: {taps: 100}}}
            - {text: "{likes} likes, {taps} taps"}
            """,
            "state: {likes: 0, taps: 0}\n",
        )
    )

    phone.tap("Photo")
    phone.wait(1.5)
    phone.tap("Photo")
    assert phone.has("0 likes, 0 taps")
    phone.tap("Photo")
    assert phone.has("1 likes, 0 taps")
    phone.tap("Both")
    phone.tap("Both")
    assert phone.has("11 likes, 1 taps")
    phone.tap("Taps")
    phone.tap("Taps")
    assert phone.has("11 likes, 201 taps")


def test_a_row_is_swiped_away() -> None:
    """A swipe sideways does what the row says, each way its own; lists still scroll."""
    phone = Phone(
        screen_app(
            """\
            - {text: "{mails.count} mails, {kept} kept"}
            - list: mails
              items:
                - row: "Mail {item}"
                  repeat: mails
                  on_swipe_left: {remove: {mails: index}}
                  on_swipe_right: {add: {kept: 1}}
            """,
            "state: {mails: [a, b, c], kept: 0}\n",
        )
    )
    x, y = phone.node("Mail b").bounds.centre

    phone.ui.touch.swipe((x, y), (x + 400, y))
    assert phone.has("3 mails, 1 kept")
    phone.ui.touch.swipe((x, y), (x - 400, y))

    assert phone.has("2 mails, 1 kept")
    assert not phone.has("Mail b")


def test_what_is_dragged_is_dropped_where_it_may_be() -> None:
    """The place where it is dropped gets its value; elsewhere nothing happens."""
    phone = Phone(
        screen_app(
            """\
            - {row: "Note {item}", repeat: notes, drag: "{index}"}
            - card: [{text: Bin}]
              on_drop: [{remove: {notes: dropped}}, {set: {last: "{dropped}"}}]
            - {button: Hold me, on_long_press: {set: {last: held}}}
            - {text: "Last {last}"}
            """,
            "state: {notes: [a, b], last: ''}\n",
        )
    )
    note, bin_ = phone.node("Note a").bounds.centre, phone.node("Bin").bounds.centre

    phone.ui.touch.drag(note, phone.node("Hold me").bounds.centre)
    assert phone.has("Note a")
    phone.ui.touch.drag(note, bin_)
    assert not phone.has("Note a")
    assert phone.has("Last 0")
    phone.ui.touch.drag(phone.node("Hold me").bounds.centre, bin_)

    assert phone.has("Last held")
    assert not phone.ui.touch.drag((5000, 5), bin_)
