"""How big items are."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import Phone, screen_app


def test_a_long_summary_makes_its_row_higher() -> None:
    """A summary that needs two lines makes its row higher, and the next one starts below it."""
    phone = Phone(
        screen_app(
            """\
            - list: rows
              items:
                - {row: A}
                - {row: B, summary: short}
                - {row: C, summary: "a summary that goes on and on and on, and then on, so far that
                    one line cannot hold what it has to say"}
                - {row: D}
            """
        )
    )

    heights = [row.bounds.height for row in phone.by_id("rows").children]
    assert heights[0] < heights[1] < heights[2]
    assert heights[3] == heights[0]


def test_a_filter_keeps_the_rows_with_the_wanted_text() -> None:
    """A list shows the rows that have the wanted text, whatever its case, anywhere inside."""
    phone = Phone(
        screen_app(
            """\
            - {field: Search, id: search, bind: query}
            - list: rows
              filter: query
              items:
                - {row: Apple}
                - {row: Pear, summary: like an apple}
                - {card: [{text: Apple pie}]}
                - {row: Plum}
            """,
            "state: {query: ''}\n",
        )
    )

    phone.ui.nodes.set_text(phone.by_id("search"), "APPLE")
    assert len(phone.by_id("rows").children) == 3
    assert not phone.has("Plum")
    phone.ui.nodes.set_text(phone.by_id("search"), "")
    assert phone.has("Plum")
