"""The page without a mouse: keys, focus, themes, widths and the rules of accessibility."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

WIDTHS = {"desk": 1440, "laptop": 1024, "phone": 390}

TABS = ("Error", "Tree", "Call", "Payload", "Envelope", "Log", "Changes", "About")

Judge = Callable[[Page], list[Any]]


def selected(page: Page) -> Locator:
    """Return the selected step."""
    return page.locator('#steps [aria-selected="true"]')


def test_steps_tabs_and_screens_are_chosen_by_keys(shop: Page) -> None:
    """Arrows go from step to step, letters to the failure and the screens, numbers to tabs."""
    shop.locator("body").press("ArrowLeft")
    expect(selected(shop)).to_contain_text("cart_button")
    shop.keyboard.press("a")
    expect(shop.get_by_role("button", name="After")).to_have_attribute("aria-pressed", "true")
    shop.keyboard.press("b")
    before = shop.get_by_role("button", name="Before", exact=True)
    expect(before).to_have_attribute("aria-pressed", "true")
    shop.keyboard.press("ArrowLeft")
    expect(selected(shop)).to_contain_text("press_key")
    shop.keyboard.press("e")
    expect(selected(shop)).to_contain_text("cart_total")
    shop.keyboard.press("6")
    expect(shop.get_by_role("tab", name="Log")).to_be_focused()
    shop.keyboard.press("ArrowRight")
    expect(shop.get_by_role("tab", name="Changes")).to_be_focused()
    expect(shop.get_by_role("tabpanel", name="Changes")).to_be_visible()
    # Keys of the page do nothing while a text is typed.
    shop.keyboard.press("/")
    box = shop.get_by_label("Matcher", exact=True)
    expect(box).to_be_focused()
    shop.keyboard.type("beat?s123")
    expect(box).to_have_value("beat?s123")
    expect(selected(shop)).to_contain_text("cart_total")
    expect(shop.get_by_role("dialog")).to_be_hidden()


def test_the_list_of_steps_is_a_tree_and_the_film_a_slider(shop: Page) -> None:
    """One step is in the order of tabs; arrows move the focus, close and open blocks."""
    shop.keyboard.press("s")
    expect(selected(shop)).to_be_focused()
    shop.keyboard.press("Home")
    expect(shop.get_by_role("treeitem", name="setup")).to_be_focused()
    for _ in range(2):
        shop.keyboard.press("ArrowDown")
    block = shop.get_by_role("treeitem", name="Sign in").first
    expect(block).to_be_focused()
    expect(block).to_have_attribute("aria-expanded", "true")
    shop.keyboard.press("ArrowLeft")
    expect(block).to_have_attribute("aria-expanded", "false")
    shop.keyboard.press("ArrowDown")
    expect(shop.get_by_role("treeitem", name="Dismiss the offer")).to_be_focused()
    assert shop.locator('#steps [tabindex="0"]').count() == 1

    film = shop.get_by_role("slider", name="Time")
    film.focus()
    shop.keyboard.press("Home")
    expect(selected(shop)).to_contain_text("open_app")
    expect(film).to_have_attribute("aria-valuenow", "1")
    shop.keyboard.press("ArrowRight")
    expect(selected(shop)).to_contain_text("email")
    assert (film.get_attribute("aria-valuetext") or "").startswith("2: enter_text")


def test_the_tree_of_nodes_is_walked_through(shop: Page) -> None:
    """Arrows go down, in, out and fold; screen readers get the active row."""
    shop.keyboard.press("2")
    tree = shop.get_by_role("tree", name="Nodes of the screen")
    tree.focus()
    shop.keyboard.press("Home")
    root = tree.get_by_role("treeitem").first
    expect(root).to_have_attribute("aria-selected", "true")
    first = tree.get_attribute("aria-activedescendant") or ""
    shop.keyboard.press("ArrowRight")
    shop.keyboard.press("ArrowDown")
    expect(tree).not_to_have_attribute("aria-activedescendant", first)
    active = tree.get_attribute("aria-activedescendant") or ""
    expect(shop.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
    expect(shop.get_by_role("region", name="Attributes")).to_be_visible()
    shop.keyboard.press("Home")
    shop.keyboard.press("ArrowLeft")

    expect(root).to_have_attribute("aria-expanded", "false")
    expect(tree.get_by_role("treeitem")).to_have_count(1)


def test_the_keys_are_shown_and_can_be_switched_off(shop: Page) -> None:
    """A question mark shows what the document lists; single letters can be given up."""
    document = (Path(__file__).parents[2] / "docs" / "trace-viewer.md").read_text(encoding="utf-8")
    table = document.partition("| keys | what they do |\n|---|---|\n")[2].partition("\n\n")[0]
    listed = [
        (re.findall("`([^`]+)`", line), line.split(" | ")[1][:-2]) for line in table.split("\n")
    ]
    shop.keyboard.press("?")
    dialog = shop.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("the next step that failed")
    assert listed == [
        (row.locator("kbd").all_inner_texts(), row.get_by_role("cell").inner_text())
        for row in dialog.get_by_role("row").all()
    ]
    dialog.get_by_label("Single keys").uncheck()
    shop.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    shop.keyboard.press("?")
    expect(dialog).to_be_hidden()
    shop.keyboard.press("ArrowLeft")
    expect(selected(shop)).to_contain_text("cart_button")

    shop.reload()
    shop.get_by_role("button", name="Show the keys").click()
    expect(dialog.get_by_label("Single keys")).not_to_be_checked()


def test_every_focus_is_seen(shop: Page) -> None:
    """Tab reaches each part of the page, and what has the focus has an outline."""
    seen = []
    for _ in range(20):
        shop.keyboard.press("Tab")
        if shop.evaluate("document.activeElement === document.body"):
            break
        seen.append(
            shop.evaluate(
                """() => {
                  const one = document.activeElement;
                  const box = one.closest("claw-matcher") ?? one;
                  const style = getComputedStyle(box);
                  const inner = one.querySelector('[aria-selected="true"]') ?? one;
                  const has = (of) => of.outlineStyle !== "none" && of.outlineWidth !== "0px";
                  const isSeen = has(style) || style.boxShadow !== "none"
                    || has(getComputedStyle(inner));
                  const pane = one.closest("section, header, .film")?.id || one.id;
                  return [pane, isSeen];
                }"""
            )
        )

    assert [pane for pane, is_seen in seen if not is_seen] == []
    assert {"head", "film", "steps-pane", "screen-pane", "detail-pane"} <= {p for p, _ in seen}


def test_the_page_fits_the_window_and_the_theme_of_the_system(shop: Page) -> None:
    """At every width all panels fit; the switch overrules the system, also after a reload."""
    for width in WIDTHS.values():
        shop.set_viewport_size({"width": width, "height": 844})
        views = shop.get_by_role("navigation").get_by_role("button")
        expect(views).to_have_count(3 if width < 760 else 0)
        for tab in range(8):
            shop.keyboard.press(str(tab + 1))
            assert shop.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        if width < 760:
            views.filter(has_text="Steps").click()
            expect(shop.get_by_role("tree", name="Steps")).to_be_visible()
            expect(shop.locator("claw-screen").first).to_be_hidden()
            views.filter(has_text="Screen").click()
        expect(shop.locator("claw-screen .glass:visible").first).to_be_visible()

    ground = "getComputedStyle(document.body).backgroundColor"
    light = shop.evaluate(ground)
    shop.emulate_media(color_scheme="dark")
    assert shop.evaluate(ground) != light
    shop.keyboard.press("t")
    assert shop.evaluate(ground) == light
    shop.reload()
    assert shop.evaluate(ground) == light
    expect(shop.locator("html")).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize("width", [1440, 390])
def test_every_panel_keeps_the_rules(
    browser: Browser, failed_page: Path, judge: Judge, width: int
) -> None:
    """With a failed test, each panel, a matcher at work, and the dialog of keys."""
    with browser.new_context(
        viewport={"width": width, "height": 900}, bypass_csp=True, color_scheme="light"
    ) as context:
        page = context.new_page()
        page.goto(failed_page.as_uri())
        expect(page.locator("#outcome")).to_have_text("failed")
        found = {"start": judge(page)}
        page.keyboard.press("ArrowLeft")
        page.get_by_label("Matcher", exact=True).fill("role=button")
        page.get_by_label("Matcher", exact=True).press("Enter")
        page.locator("#steps .found.some").first.wait_for(state="attached")
        page.evaluate("document.activeElement.blur()")
        found["matcher"] = judge(page)
        for place, tab in enumerate(TABS):
            page.keyboard.press(str(place + 1))
            expect(page.get_by_role("tabpanel", name=tab)).not_to_be_empty()
            found[tab] = judge(page)
        if width == 390:
            page.get_by_role("button", name="Steps").click()
            found["steps"] = judge(page)
        page.keyboard.press("?")
        found["keys"] = judge(page)

    assert {part: wrong for part, wrong in found.items() if wrong} == {}


def test_what_breaks_the_rules_is_found(browser: Browser, judge: Judge) -> None:
    """The check itself can fail."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content('<body><button></button><p style="color:#ccc">pale</p>')

        assert {one[0] for one in judge(page)} >= {"button-name", "color-contrast"}
