"""Keys that can never have an effect."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import ConfigurationError
from tests.doubles.simulator.screen_phone import app, screen_app

STATE = "state: {on: true, count: 0, tab: a, name: ''}\n"


@pytest.mark.parametrize(
    ("widget", "part"),
    [
        ("{text: A, clickable: false, on_tap: {back: true}}", "`on_tap` never happens"),
        ("{text: A, clickable: false, on_double_tap: {back: true}}", "`on_double_tap` never"),
        ("{text: A, drag: a}", "`drag` leads nowhere"),
        ("{text: A, on_drop: {set: {name: '{dropped}'}}}", "`on_drop` never happens"),
        ("{row: A, summary_id: x}", "for a row with a `summary`"),
        ("{field: A, multiline: true, on_submit: {back: true}}", "`on_submit` never happens"),
        ("{tab: A, value: a}", "a tab stands among the items of `tabs`"),
        ("{list: l, direction: horizontal, columns: 2}", "`columns` has no effect"),
        ("{text: A, appears_after: 2s, disappears_after: 1s}", "it never shows"),
        ("{row: A, on_change: {back: true}}", "a row with a `switch` or `checkbox`"),
        ("{row: A, switch: on, checkbox: on}", "say the same thing"),
        ("{switch: A, checked: not on, on_change: {back: true}}", "`on_change` never happens"),
        ("{button: A, on_tap: {if: on}}", "without `then` or `else`"),
        ("{button: A, on_tap: {after: 2s}}", "without `do`"),
        ("{button: A, on_tap: {set: {}}}", "`set` names no variable"),
        ("{button: A, on_tap: {focus: nam}}", "no field with the id `nam`; known: none"),
    ],
)
def test_a_key_without_effect_is_refused(widget: str, part: str) -> None:
    """A key that can never do anything where it stands is told, with the reason."""
    with pytest.raises(ConfigurationError) as refused:
        screen_app(f"- {widget}\n", STATE)

    assert part in refused.value.message
    assert "app.yaml:8:" in refused.value.message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("screens:\n  main: {toolbar: false, menu: [{icon: A}]}\n", "`menu` never shows"),
        (
            "screens: {main: {}}\ndialogs:\n  d: {cancelable: false, on_cancel: {back: true}}\n",
            "`on_cancel` never happens",
        ),
        ("screens: {main: {}}\ndialogs:\n  d: {cancelable: false}\n", "nobody can ever close"),
        (
            "links: [{uri: 'a://b', screen: main}, {uri: 'a://b', screen: main}]\n"
            "screens: {main: {}}\n",
            "link 1 has the same `uri`",
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
