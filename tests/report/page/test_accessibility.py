"""No violation of WCAG AA, as axe-core finds them, in any panel, theme or width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests import page_tools

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
TABS = ("Error", "Tree", "Call", "Payload", "Envelope", "Log", "Changes", "About")


def violations(page: Page) -> list[Any]:
    """Return what axe-core finds wrong, with the places."""
    found: list[Any] = page.evaluate(
        """async (rules) => (await axe.run(document, { runOnly: rules })).violations
          .map(({ id, help, nodes }) => [id, help, nodes.slice(0, 3).map((one) => one.html)])""",
        RULES,
    )
    return found


@pytest.fixture
def axe() -> str:
    """Return the script of axe-core."""
    if reason := page_tools.missing():
        pytest.skip(reason)
    return page_tools.file_of("axe-core", "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_panel_keeps_the_rules(
    browser: Browser, failed_page: Path, axe: str, scheme: str, width: int
) -> None:
    """With a failed test, each panel, a matcher at work, and the dialog of keys."""
    size = ViewportSize(width=width, height=900)
    with browser.new_context(viewport=size, bypass_csp=True) as context:
        page = context.new_page()
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.goto(failed_page.as_uri())
        expect(page.locator("#outcome")).to_have_text("failed")
        page.evaluate(axe)
        found = {"start": violations(page)}
        page.keyboard.press("ArrowLeft")
        page.get_by_label("Matcher", exact=True).fill("role=button")
        page.get_by_label("Matcher", exact=True).press("Enter")
        page.locator("#steps .found.some").first.wait_for(state="attached")
        page.evaluate("document.activeElement.blur()")
        found["matcher"] = violations(page)
        for place, tab in enumerate(TABS):
            page.keyboard.press(str(place + 1))
            expect(page.get_by_role("tabpanel", name=tab)).not_to_be_empty()
            found[tab] = violations(page)
        if width == 390:
            page.get_by_role("button", name="Steps").click()
            found["steps"] = violations(page)
        page.keyboard.press("?")
        found["keys"] = violations(page)

    assert {part: wrong for part, wrong in found.items() if wrong} == {}


def test_what_breaks_the_rules_is_found(browser: Browser, axe: str) -> None:
    """The check itself can fail."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content('<body><button></button><p style="color:#ccc">pale</p>')
        page.evaluate(axe)

        assert {one[0] for one in violations(page)} >= {"button-name", "color-contrast"}
