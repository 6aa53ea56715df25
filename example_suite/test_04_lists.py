"""Lesson 4: lists. Most of a list is not on the screen."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE, Conformance
from example_suite.pages.settings import PACKAGE as SETTINGS
from example_suite.pages.settings import Settings
from pytest_clawperator import Clawperator, expect

pytestmark = pytest.mark.claw_app(PACKAGE, missing="skip")


def test_scroll_into_view(clawperator: Clawperator, conformance: Conformance) -> None:
    """A locator can scroll until its node is on the screen."""
    conformance.open_list()
    row = clawperator.node(text="row_24")
    expect(row).not_to_be_visible(timeout=0)

    row.scroll_into_view()

    expect(row).to_be_in_viewport()


def test_scroll_and_click(clawperator: Clawperator, conformance: Conformance) -> None:
    """One action scrolls to a row and taps it."""
    conformance.open_list()

    clawperator.scroll_and_click(text="row_20")

    expect(clawperator.node(id="txt_selected_row")).to_have_text("Selected: row_20")


def test_the_outcome_of_a_scroll(clawperator: Clawperator, conformance: Conformance) -> None:
    """A scroll returns its outcome, which is true if anything moved."""
    conformance.open_list()

    up, down = clawperator.scroll("up"), clawperator.scroll("down")

    assert not up
    assert up.edge_reached
    assert down.moved


def test_back_to_the_top(clawperator: Clawperator, conformance: Conformance) -> None:
    """One call scrolls back to the top, however far down the list is."""
    conformance.open_list()
    clawperator.scroll()
    clawperator.scroll()

    clawperator.scroll_to_top(within=conformance.rows)

    expect(clawperator.node(text="row_0")).to_be_visible()


@pytest.mark.claw_app(SETTINGS)
def test_page_by_page(clawperator: Clawperator) -> None:
    """`pages` takes a snapshot, scrolls, takes the next snapshot, and so on."""
    titles: list[str] = []
    for page in clawperator.pages(max_scrolls=2):
        titles += [node.label for node in page.find_all(id="title") if node.label not in titles]

    assert len(titles) > 5


@pytest.mark.claw_app(SETTINGS)
def test_the_last_row_of_settings(clawperator: Clawperator, settings: Settings) -> None:
    """`scroll_until` stops where its node is found."""
    outcome = clawperator.scroll_until(text_contains="About", max_scrolls=25)

    assert outcome.found
    expect(settings.row("About")).to_be_visible()
