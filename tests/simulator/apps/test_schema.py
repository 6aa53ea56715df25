"""The schema of app files."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.apps.load import parse_app
from tests.doubles.simulator.screen_phone import HEAD, screen_app
from tests.simulator.screen.sample_apps import MAIN


def test_one_action_needs_no_list() -> None:
    """A single action may stand alone, several form a list."""
    app = screen_app(
        """\
        - {button: A, on_tap: {back: true}}
        - {button: B, on_tap: [{toast: Hi}, {back: true}]}
        """
    )

    verbs = [[action.verb for action in item.on_tap] for item in app.screens["main"].items]
    assert verbs == [["back"], ["toast", "back"]]


def test_a_widget_is_written_with_its_kind_first() -> None:
    """The kind's value is the text; for a container it is its items, or its id."""
    app = screen_app(
        """\
        - text: Hello
        - column: [{text: A}]
        - list: my_list
          items: [{text: B}]
        - divider:
        """
    )

    text, column, items, divider = app.screens["main"].items
    assert text.text is not None
    assert text.text.source == "Hello"
    assert [item.kind for item in (*column.items, *items.items, divider)] == [
        "text", "text", "divider",
    ]  # fmt: skip
    assert items.id is not None
    assert items.id.source == "my_list"


def test_a_package_a_name_and_one_screen_are_enough() -> None:
    """A package, a name and one screen are enough; the rest has defaults."""
    app = parse_app(HEAD + MAIN)

    assert (app.package, app.name, app.version, app.launcher) == (
        "com.example.demo", "Demo", "1.0", True,
    )  # fmt: skip
    assert app.activities == {"com.example.demo.MainActivity": "main"}


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("shop://item/7", {"id": "7"}),
        ("SHOP://ITEM/7?from=mail#top", {"id": "7"}),
        ("shop://item/7/", {"id": "7"}),
        ("shop://item/x", None),
        ("shop://item/", None),
        ("shop://item/7/more", None),
        ("xshop://item/7", None),
    ],
)
def test_a_link_takes_only_addresses_of_its_form(uri: str, found: dict[str, str] | None) -> None:
    """A number in braces takes digits only; a query, a fragment or a last slash may follow."""
    app = parse_app(
        HEAD + "links: [{uri: 'shop://item/{id:int}', screen: main}]\n"
        "screens:\n  main: {args: {id: 0}}\n"
    )

    match = app.links[0].pattern.match(uri)
    assert (match.groupdict() if match else None) == found
