"""Which widgets show at one moment."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import Phone, demo, screen_app
from tests.simulator.screen.sample_apps import TIMED


def test_widgets_appear_and_disappear_with_the_clock() -> None:
    """A widget appears and disappears at its times, and each is a new version of the screen."""
    phone = demo(TIMED)
    assert not phone.has("Early")
    version = phone.ui.view.version

    phone.wait(0.7)
    assert phone.ui.view.version == version
    phone.wait(0.1)
    assert phone.ui.view.version != version
    assert phone.has("Early")
    phone.wait(0.7)
    assert not phone.has("Early")
    assert phone.has("Loading")


def test_a_widget_is_repeated_for_each_entry_of_a_list() -> None:
    """A variable that holds a list repeats a widget for each entry, with its parts at hand."""
    phone = Phone(
        screen_app(
            "- {text: '{number}. {item.name}', repeat: people}\n",
            "state:\n  people: [{name: Ann}, {name: Bob}]\n",
        )
    )

    assert phone.texts() == ["1. Ann", "2. Bob"]


def test_repeats_in_repeats_are_bounded() -> None:
    """However often a file multiplies, a screen is built, with as many nodes as there may be."""
    phone = Phone(
        screen_app("- {scroll: s, items: [{column: [{text: x, repeat: 2000}], repeat: 2000}]}\n")
    )

    assert sum(1 for _ in phone.root.walk()) < 30_000


def test_a_group_leaves_no_trace() -> None:
    """A group shows and hides several widgets, and has no node itself."""
    phone = Phone(
        screen_app(
            "- {group: [{text: A}, {text: B}], visible_if: on}\n- {button: Turn, on_tap:"
            " {toggle: on}}\n",
            "state: {on: true}\n",
        )
    )

    assert phone.texts() == ["A", "B", "Turn"]
    assert phone.node("A").parent is phone.node("Turn").parent
    phone.tap("Turn")
    assert phone.texts() == ["Turn"]
