"""A trace that means harm does none: its texts are texts, its types are checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from pytest_clawperator.report.trace import Trace
from tests.report.made_traces import ATTACK, hostile_trace

TABS = ("Errors", "Tree", "Call", "Payload", "Envelope", "Log", "Changes", "About")

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(event.violatedDirective);
});
"""


def test_a_hostile_trace_does_nothing_bad(
    tab: Page, open_page: Callable[[Trace], Page], tmp_path: Path
) -> None:
    """Every panel of every step shows markup as text, and nothing runs or even tries to."""
    tab.add_init_script(WATCH)
    page = open_page(hostile_trace(tmp_path / "trace"))

    def show(name: str) -> None:
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.get_by_role("tabpanel", name=name)).to_be_visible()

    expect(page.get_by_role("tree", name="Steps")).to_be_visible()
    for number in range(page.locator("#steps .entry").count()):
        page.locator("#steps .entry").nth(number).click()
        for name in TABS:
            show(name)
    expect(page.get_by_role("tabpanel", name="About")).to_contain_text("not beside this page")
    assert page.locator("a[href]").count() == 0
    page.locator("#steps .execution").first.click()
    show("Log")
    expect(page.get_by_role("listitem").first).to_contain_text(ATTACK)
    show("Errors")
    expect(page.locator(".excerpt .line").first).to_contain_text(ATTACK)
    expect(page.locator(".excerpt figcaption")).to_contain_text(ATTACK)
    show("Tree")
    expect(page.locator("claw-tree")).to_contain_text(ATTACK[:20])
    # Odd ids, half characters and a megabyte of text are matched and described.
    box = page.get_by_label("Matcher", exact=True)
    for typed, count in (('id="__proto__"', 2), ('text_contains="<SCRIPT>"', 3), ("WWWW", 1)):
        box.fill(typed)
        expect(page.locator("#matcher-status")).to_contain_text(f"{count} match")
        box.press("Enter")
        expect(page.get_by_role("region", name="Attributes")).to_be_visible()
    described = page.get_by_role("region", name="Attributes").inner_text()
    assert "1,000,000 characters" in described
    assert len(described) < 10_000
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")

    assert page.evaluate("window.violations") == []
    assert "owned" not in page.title().replace("document.title='owned'", "")
    assert page.evaluate("({}).polluted") is None
    assert page.locator("main img[src='x'], main script, main style, main b:has(b)").count() == 0
