"""The language of app files: how expressions parse, and what they evaluate to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.apps.expressions import Expression, Template
from pytest_clawperator.simulator.apps.kinds import Value

VALUES: dict[str, Any] = {
    "count": 3,
    "name": "Ann",
    "on": True,
    "cart": [{"price": 5}, {"price": 7}],
    "item": {"name": "Pen", "price": 2},
    "half": 0.5,
}


def lookup(name: str) -> Value:
    """Look a name up as an app would."""
    value: Value = VALUES.get(name, "")
    return value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("count", 3),
        ("count > 2 and not on", False),
        ("count == 3 or missing", True),
        ("(count + 2) * 4 - 1", 19),
        ("1 + 2 * 3", 7),
        ("count * 7 % 5", 1),
        ("-count + 1", -2),
        ("'a' + count", "a3"),
        ("name == 'Ann'", True),
        ("'an' in name", True),
        ("'x' in name", False),
        ("cart.count", 2),
        ("item.name", "Pen"),
        ("item.nothing", ""),
        ("name.nothing", ""),
        ("count < 'b'", False),
        ("cart < 2", False),
        ("count % 0", 0),
        ("true != false", True),
        ("not not on", True),
        ("2 in cart", False),
        ("half + half", 1.0),
    ],
)
def test_an_expression_has_a_value(source: str, value: object) -> None:
    """Operators bind as in arithmetic, and odd mixtures give something harmless."""
    assert Expression(source)(lookup) == value


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("", "missing at the end"),
        ("count >", "missing at the end"),
        ("count count", "not expected there"),
        ("(count", "not closed"),
        ("count & 1", "is not understood"),
        ("__import__('os')", "not expected there"),
        ("'open", "is not understood"),
        ("and", "not expected there"),
        ("(" * 60 + "1" + ")" * 60, "nested more than"),
        ("not " * 60 + "on", "nested more than"),
        ("1+" * 400 + "1", "characters"),
    ],
)
def test_a_mistake_in_an_expression_is_explained(source: str, part: str) -> None:
    """What is not in the language is refused with the reason."""
    with pytest.raises(ValueError, match=r".") as refused:
        Expression(source)

    assert part in str(refused.value)


@settings(deadline=None, database=None)
@given(st.text(max_size=40))
def test_any_text_is_refused_or_has_a_value(source: str) -> None:
    """Any text is either refused, or has a value."""
    try:
        expression = Expression(source)
    except ValueError:
        return

    expression(lookup)


def test_numbers_stay_within_bounds() -> None:
    """Multiplying for ever does not make numbers without end."""
    values: list[Value] = [10]
    for _ in range(100):
        values.append(Expression("n * n")(lambda name: values[-1]))

    assert values[-1] == 2**63 - 1


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


@pytest.mark.parametrize(
    ("value", "part"),
    [
        *((source, "a lone") for source in ("{", "a } b", "{count")),
        *(({"count": None}, "needs quotes"), ([1], "not a list"), (None, "not nothing")),
    ],
)
def test_a_template_that_cannot_be_meant_is_refused(value: object, part: str) -> None:
    """A brace that is neither pair nor doubled, or another value than a text, is refused."""
    with pytest.raises(ValueError, match=part):
        Template.parse(value)


def test_a_lone_expression_or_name_is_more_than_its_text() -> None:
    """A lone expression keeps its type, and only a bare name can be written to."""
    assert [Template(source).value(lookup) for source in ("{count}", " {count}")] == [3, " 3"]
    names = (" wifi ", "not wifi", "item.price")
    assert [Expression(source).is_name for source in names] == [True, False, False]
