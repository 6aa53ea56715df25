"""Templates, and expressions that are names."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.apps.expressions import Expression, Template
from pytest_clawperator.simulator.apps.kinds import Value

VALUES: dict[str, Any] = {"count": 3, "on": True, "cart": [5, 7], "half": 0.5}


def lookup(name: str) -> Value:
    """Look a name up as an app would."""
    value: Value = VALUES.get(name, "")
    return value


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("plain", "plain"),
        ("{count} of {count + 1}", "3 of 4"),
        ("{{count}}", "{count}"),
        ("", ""),
        ("{on}", "true"),
        ("{cart.count * 1}", "2"),
        ("{half + half}", "1"),
    ],
)
def test_a_template_is_filled_in(source: str, text: str) -> None:
    """Expressions in braces become text; doubled braces are braces."""
    assert Template(source).render(lookup) == text


def test_a_template_of_one_expression_keeps_its_type() -> None:
    """A lone expression is a value; with text around it, it is text."""
    assert Template("{count}").value(lookup) == 3
    assert Template(" {count}").value(lookup) == " 3"


@pytest.mark.parametrize("source", ["{", "a } b", "{count"])
def test_a_lone_brace_is_a_mistake(source: str) -> None:
    """A brace that is neither pair nor doubled is refused."""
    with pytest.raises(ValueError, match="a lone"):
        Template(source)


@pytest.mark.parametrize(
    ("value", "part"),
    [({"count": None}, "needs quotes"), ([1], "not a list"), (None, "not nothing")],
)
def test_what_is_no_text_is_refused(value: object, part: str) -> None:
    """A mapping, list or nothing is no template, and the likely slip is named."""
    with pytest.raises(ValueError, match=part):
        Template.parse(value)


def test_an_expression_knows_whether_it_is_a_variable() -> None:
    """Only a bare name can be written to."""
    assert Expression(" wifi ").is_name
    assert not Expression("not wifi").is_name
    assert not Expression("item.price").is_name
