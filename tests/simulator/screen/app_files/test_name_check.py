"""Names and types of variables in app files."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import ConfigurationError
from tests.doubles.simulator.screen_phone import screen_app


@pytest.mark.parametrize(
    ("action", "part"),
    [
        ("{toggle: name}", "must hold a boolean for this, but holds a text"),
        ("{add: {name: 1}}", "must hold a number for this, but holds a text"),
        ("{append: {name: 1}}", "must hold a list for this, but holds a text"),
        ("{remove: {name: 0}}", "must hold a list for this, but holds a text"),
        ("{set: {name: [1]}}", "can be set to `[]` only"),
        ("{set: {name: {a: 1}}}", "can be set to `[]` only"),
        ("{append: {cart: []}}", "not a list"),
    ],
)
def test_a_verb_names_the_type_of_variable_that_it_needs(action: str, part: str) -> None:
    """A verb that needs another type of variable says which."""
    items = f"- {{button: A, on_tap: {action}}}\n"

    with pytest.raises(ConfigurationError) as refused:
        screen_app(items, "state: {name: Ann, cart: []}\n")

    assert part in refused.value.message
