"""Long tests and large screens: everything works as on small ones, and little is drawn."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from pytest_clawperator.report.page import write_page
from tests.report.page.made import long_trace


def test_five_hundred_steps_are_walked_through(tab: Page, tmp_path: Path) -> None:
    """The first, the last and any step between can be selected, and the film reaches them all."""
    write_page(long_trace(tmp_path / "trace", steps=500), tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())
    chosen = tab.locator('#steps [aria-selected="true"]')
    film = tab.get_by_role("slider", name="Time")
    expect(film).to_have_attribute("aria-valuenow", "500")
    film.press("Home")
    expect(chosen).to_have_attribute("title", 'click text="Cell 0"')
    for _ in range(30):
        tab.keyboard.press("ArrowRight")
    expect(film).to_have_attribute("aria-valuenow", "31")
    expect(chosen).to_be_in_viewport()
    tab.get_by_label("Matcher", exact=True).fill('text="Chosen"')

    expect(tab.locator(".film .bar.hit")).to_have_count(500)
    expect(tab.locator("#matcher-told")).to_have_text("1 match")


def test_five_thousand_nodes_are_searched_and_scrolled(tab: Page, tmp_path: Path) -> None:
    """Only rows that are seen exist, and each node can be reached and found."""
    trace = long_trace(tmp_path / "trace", steps=4, nodes=5000, trees=2)
    write_page(trace, tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())
    tab.get_by_role("tab", name="Tree").click()
    tree = tab.get_by_role("tree", name="Nodes of the screen")
    expect(tree.get_by_role("treeitem").first).to_be_visible()
    assert tree.get_by_role("treeitem").count() < 100
    tree.press("End")
    expect(tree.get_by_role("treeitem", selected=True)).to_contain_text("#cell_4760")
    expect(tree.get_by_role("treeitem", selected=True)).to_be_in_viewport()
    tab.get_by_label("Matcher", exact=True).fill('text_contains="cell 47"')

    expect(tab.locator("#matcher-told")).to_have_text("72 matches")
    expect(tab.locator("claw-screen .mark.match:visible").first).to_be_visible()
    tab.get_by_role("tab", name="Changes").click()
    expect(tab.locator(".change.changed")).to_have_count(2)
