"""Checks of app files beyond their schema."""

from __future__ import annotations

import re

import pytest

from pytest_clawperator.errors import ConfigurationError
from tests.doubles.simulator.screen_phone import app, screen_app

STATE = "state: {name: Ann, count: 1, on: true, cart: [{name: Pen, price: 2}]}\n"


def on_tap(action: str) -> str:
    """Return a button that does something."""
    return f"{{button: A, on_tap: {action}}}"


@pytest.mark.parametrize(
    ("widget", "part"),
    [
        # Keys that can never have an effect.
        ("{field: A, multiline: true, on_submit: {back: true}}", "`on_submit` never happens"),
        ("{tab: A, value: a}", "a tab stands among the items of `tabs`"),
        ("{row: A, on_change: {back: true}}", "a row with a `switch` or `checkbox`"),
        ("{switch: A, checked: not on, on_change: {back: true}}", "`on_change` never happens"),
        (on_tap("{if: on}"), "without `then` or `else`"),
        (on_tap("{after: 2s}"), "without `do`"),
        (on_tap("{focus: nam}"), "no field with the id `nam`; known: none"),
        # Variables of another type.
        (on_tap("{toggle: name}"), "must hold a boolean for this, but holds a text"),
        (on_tap("{add: {name: 1}}"), "must hold a number for this, but holds a text"),
        (on_tap("{append: {name: 1}}"), "must hold a list for this, but holds a text"),
        (on_tap("{remove: {name: 0}}"), "must hold a list for this, but holds a text"),
        (on_tap("{set: {name: [1]}}"), "can be set to `[]` only"),
        (on_tap("{set: {name: {a: 1}}}"), "can be set to `[]` only"),
        # Values that can never be computed or assigned.
        (on_tap("{add: {count: -name}}"), "`-` needs numbers, found a text"),
        (on_tap("{add: {count: name}}"), "a number is needed, found a text"),
        (on_tap("{remove: {cart: name}}"), "a number is needed, found a text"),
        (on_tap("{set: {count: many}}"), "a whole number is wanted"),
        (on_tap("{set: {on: maybe}}"), "`true` or `false` is wanted"),
        (on_tap("{set: {cart: '{name}'}}"), "it holds a list, and a text does not"),
        (on_tap("{set: {count: '{cart}'}}"), "it holds a number, and a list does not"),
        (on_tap("{navigate: {to: item, with: {number_of: x}}}"), "a whole number"),
        ("{text: A, visible_if: name > 3}", "compares two values of one kind"),
        ("{text: A, visible_if: count == '3'}", "found a number and a text"),
        ("{text: A, visible_if: \"'a' in count\"}", "`in` looks for a value in a text or list"),
        ("{text: '{count.length}'}", "a number has no parts"),
        ("{text: '{cart.length}'}", "a list has no part `length`, only `count`"),
        ("{row: '{item.prise}', repeat: cart}", "there is no part `prise`; its parts: name, price"),
        ("{row: A, repeat: name}", "`repeat` needs a list or a number, found a text"),
        ("{radio: A, bind: count, value: x}", "a whole number is wanted"),
        ("{text: '{double + 1}', visible_if: double > 'x'}", "found a number and a text"),
    ],
)
def test_a_widget_that_can_never_work_is_refused(widget: str, part: str) -> None:
    """What has no effect, or cannot be computed with the declared kinds, is reported on loading."""
    screens = f"screens:\n  main: {{items: [{widget}]}}\n  item: {{args: {{number_of: 1}}}}\n"

    with pytest.raises(ConfigurationError) as refused:
        app(STATE + "computed: {double: count * 2}\n" + screens)

    assert part in refused.value.message
    assert re.search(r"app.yaml:7:\d+: ", refused.value.message)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "screens: {main: {}}\ndialogs:\n  d: {cancelable: false, on_cancel: {back: true}}\n",
            "`on_cancel` never happens",
        ),
        ("screens: {main: {}}\ndialogs:\n  d: {cancelable: false}\n", "can never be closed"),
        (
            "screens:\n  main:\n    items: [{field: A, id: f}, {field: B, id: f},"
            " {button: C, on_tap: {focus: f}}]\n",
            "2 fields have the id `f`",
        ),
        (
            "state: {place: ''}\nscreens:\n  main:\n    args: {place: x}\n"
            "    items: [{button: A, on_tap: {set: {place: here}}}]\n",
            "one of the `args` here",
        ),
        ("state: {a: 1}\ncomputed: {a: '2'}\nscreens: {main: {}}\n", "is a variable too"),
    ],
)
def test_a_page_that_can_never_work_is_refused(text: str, part: str) -> None:
    """Dialogs without a way out, ambiguous fields, and names with two meanings are reported."""
    with pytest.raises(ConfigurationError) as refused:
        app(text)

    assert part in refused.value.message


def test_parts_of_appended_records_are_known() -> None:
    """A list that is filled by `append` has entries with the parts that it appends."""
    items = """\
    - {button: A, on_tap: {append: {cart: {name: Pen}}}}
    - {row: "{item.name}", repeat: cart}
    """

    screen_app(items, "state: {cart: []}\n")

    with pytest.raises(ConfigurationError, match="no part `nam`"):
        screen_app(items.replace("item.name", "item.nam"), "state: {cart: []}\n")
