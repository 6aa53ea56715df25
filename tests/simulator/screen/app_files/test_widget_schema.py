"""What an app file may say about widgets."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import screen_app


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
