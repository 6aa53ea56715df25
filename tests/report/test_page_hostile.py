"""A trace that means harm does none: its texts are texts, its types are checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pytest_clawperator.report.page import write_page
from tests.report.made_traces import ATTACK, hostile_trace

TABS = ("Errors", "Tree", "Call", "Payload", "Envelope", "Log", "Changes", "About")

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(event.violatedDirective);
});
"""


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a hostile trace."""
    folder = tmp_path_factory.mktemp("hostile")
    write_page(hostile_trace(folder / "trace"), folder / "page.html")
    return folder / "page.html"


@pytest.fixture
def hostile(tab: Page, hostile_page: Path) -> Page:
    """Open it; the tab itself fails on dialogs, errors, messages and requests."""
    tab.add_init_script(WATCH)
    tab.goto(hostile_page.as_uri())
    expect(tab.get_by_role("tree", name="Steps")).to_be_visible()
    return tab


def test_a_hostile_trace_does_nothing_bad(hostile: Page) -> None:
    """Every panel of every step is shown, nothing runs, and nothing even tries to."""
    for number in range(hostile.locator("#steps .entry").count()):
        hostile.locator("#steps .entry").nth(number).click()
        for tab in TABS:
            hostile.get_by_role("tab", name=tab, exact=True).click()
            expect(hostile.get_by_role("tabpanel", name=tab)).to_be_visible()
    hostile.keyboard.press("?")

    assert hostile.evaluate("window.violations") == []
    assert "owned" not in hostile.title().replace("document.title='owned'", "")
    assert hostile.evaluate("({}).polluted") is None
    assert hostile.locator("main img[src='x'], main script, main style, main b:has(b)").count() == 0


def test_texts_are_shown_as_they_are(hostile: Page) -> None:
    """Markup is read, not obeyed: in the list, the tree, the log and the error."""
    hostile.locator("#steps .execution").first.click()
    hostile.get_by_role("tab", name="Tree").click()
    expect(hostile.locator("claw-tree")).to_contain_text(ATTACK[:20])
    hostile.get_by_role("tab", name="Log").click()
    expect(hostile.get_by_role("listitem").first).to_contain_text(ATTACK)
    hostile.get_by_role("tab", name="Errors").click()

    expect(hostile.locator(".excerpt .line").first).to_contain_text(ATTACK)
    expect(hostile.locator(".excerpt figcaption")).to_contain_text(ATTACK)


def test_links_lead_only_to_files_that_are_there(hostile: Page) -> None:
    """Neither a script nor a file elsewhere is linked."""
    hostile.get_by_role("tab", name="About").click()

    expect(hostile.get_by_role("tabpanel", name="About")).to_contain_text("not beside this page")
    assert hostile.locator("a[href]").count() == 0


def test_matchers_work_on_hostile_nodes(hostile: Page) -> None:
    """Odd ids, half characters and ten megabytes of text are matched and described."""
    hostile.locator("#steps .execution").first.click()
    hostile.get_by_role("tab", name="Tree").click()
    box = hostile.get_by_label("Matcher", exact=True)
    for typed, count in (('id="__proto__"', 2), ('text_contains="<SCRIPT>"', 3), ("WWWW", 1)):
        box.fill(typed)
        expect(hostile.locator("#matcher-status")).to_contain_text(f"{count} match")
        box.press("Enter")
        expect(hostile.get_by_role("region", name="Attributes")).to_be_visible()

    told = hostile.get_by_role("region", name="Attributes").inner_text()
    assert "10,000,000 characters" in told
    assert len(told) < 10_000
