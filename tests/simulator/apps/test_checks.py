"""Checks of app files beyond their schema."""

from __future__ import annotations

import re

import pytest

from pytest_clawperator.errors import ConfigurationError
from tests.doubles.simulator.screen_phone import app, screen_app

STATE = "state: {on: true, count: 0, tab: a, name: ''}\n"


@pytest.mark.parametrize(
    ("widget", "part"),
    [
        ("{field: A, multiline: true, on_submit: {back: true}}", "`on_submit` never happens"),
        ("{tab: A, value: a}", "a tab stands among the items of `tabs`"),
        ("{row: A, on_change: {back: true}}", "a row with a `switch` or `checkbox`"),
        ("{switch: A, checked: not on, on_change: {back: true}}", "`on_change` never happens"),
        ("{button: A, on_tap: {if: on}}", "without `then` or `else`"),
        ("{button: A, on_tap: {after: 2s}}", "without `do`"),
        ("{button: A, on_tap: {focus: nam}}", "no field with the id `nam`; known: none"),
    ],
)
def test_a_key_without_effect_is_refused(widget: str, part: str) -> None:
    """A key that can never do anything where it stands is reported, with the reason."""
    with pytest.raises(ConfigurationError) as refused:
        screen_app(f"- {widget}\n", STATE)

    assert part in refused.value.message
    assert "app.yaml:8:" in refused.value.message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "screens: {main: {}}\ndialogs:\n  d: {cancelable: false, on_cancel: {back: true}}\n",
            "`on_cancel` never happens",
        ),
        (
            "screens: {main: {}}\ndialogs:\n  d: {cancelable: false}\n",
            "can never be closed",
        ),
    ],
)
def test_a_page_or_link_without_effect_is_refused(text: str, part: str) -> None:
    """The same goes for screens, dialogs and links."""
    with pytest.raises(ConfigurationError) as refused:
        app(text)

    assert part in refused.value.message


def test_two_fields_to_focus_are_refused() -> None:
    """`focus` must name one field."""
    items = """\
    - {field: A, id: f}
    - {field: B, id: f}
    - {button: C, on_tap: {focus: f}}
    """

    with pytest.raises(ConfigurationError, match="2 fields have the id `f`"):
        screen_app(items)


@pytest.mark.parametrize(
    ("action", "part"),
    [
        ("{toggle: name}", "must hold a boolean for this, but holds a text"),
        ("{add: {name: 1}}", "must hold a number for this, but holds a text"),
        ("{append: {name: 1}}", "must hold a list for this, but holds a text"),
        ("{remove: {name: 0}}", "must hold a list for this, but holds a text"),
        ("{set: {name: [1]}}", "can be set to `[]` only"),
        ("{set: {name: {a: 1}}}", "can be set to `[]` only"),
    ],
)
def test_a_verb_names_the_type_of_variable_that_it_needs(action: str, part: str) -> None:
    """A verb that needs another type of variable says which."""
    items = f"- {{button: A, on_tap: {action}}}\n"

    with pytest.raises(ConfigurationError) as refused:
        screen_app(items, "state: {name: Ann, cart: []}\n")

    assert part in refused.value.message


@pytest.mark.parametrize(
    ("widget", "part"),
    [
        ("{button: A, on_tap: {add: {count: -name}}}", "`-` needs numbers, found a text"),
        ("{button: A, on_tap: {add: {count: name}}}", "a number is needed, found a text"),
        ("{button: A, on_tap: {remove: {cart: name}}}", "a number is needed, found a text"),
        ("{button: A, on_tap: {set: {count: many}}}", "a whole number is wanted"),
        ("{button: A, on_tap: {set: {on: maybe}}}", "`true` or `false` is wanted"),
        ("{button: A, on_tap: {set: {cart: '{name}'}}}", "it holds a list, and a text does not"),
        ("{button: A, on_tap: {set: {count: '{cart}'}}}", "it holds a number, and a list does not"),
        ("{button: A, on_tap: {navigate: {to: item, with: {number_of: x}}}}", "a whole number"),
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
def test_values_that_can_never_fit_are_refused(widget: str, part: str) -> None:
    """What cannot be computed or assigned with the declared kinds is reported on loading."""
    state = "state: {name: Ann, count: 1, on: true, cart: [{name: Pen, price: 2}]}\n"
    more = state + "computed: {double: count * 2}\n"
    screens = f"screens:\n  main: {{items: [{widget}]}}\n  item: {{args: {{number_of: 1}}}}\n"

    with pytest.raises(ConfigurationError) as refused:
        app(more + screens)

    assert part in refused.value.message
    assert re.search(r"app.yaml:7:\d+: ", refused.value.message)


def test_parts_of_appended_records_are_known() -> None:
    """A list that is filled by `append` has entries with the parts that it appends."""
    items = """\
    - {button: A, on_tap: {append: {cart: {name: Pen}}}}
    - {row: "{item.name}", repeat: cart}
    """

    screen_app(items, "state: {cart: []}\n")

    with pytest.raises(ConfigurationError, match="no part `nam`"):
        screen_app(items.replace("item.name", "item.nam"), "state: {cart: []}\n")


def test_an_arg_cannot_be_changed() -> None:
    """A variable that an arg of the page hides cannot be set there without being seen."""
    items = "[{button: A, on_tap: {set: {place: here}}}]"

    with pytest.raises(ConfigurationError, match="one of the `args` here"):
        app(f"state: {{place: ''}}\nscreens:\n  main: {{args: {{place: x}}, items: {items}}}\n")


def test_a_computed_name_is_no_variable_too() -> None:
    """A name that is both would never be computed."""
    with pytest.raises(ConfigurationError, match="is a variable too"):
        screen_app("- text: A\n", "state: {a: 1}\ncomputed: {a: '2'}\n")
