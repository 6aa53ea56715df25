"""The page in Chromium: every part shows what happened, and leads to the others."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from pytest_clawperator.report.trace import Failure, PhaseBegan, StepBegan, StepEnded, Trace
from tests.report.made_traces import (
    HEAD,
    expecting_trace,
    late_pictures_trace,
    long_trace,
    picture,
    shop_trace,
    write_trace,
)

Open = Callable[[Trace], Page]


def step(page: Page, name: str) -> Locator:
    """Return the first step with this title."""
    return page.get_by_role("treeitem", name=name).first


def show(page: Page, tab: str) -> Locator:
    """Show a tab, and return its panel."""
    page.get_by_role("tab", name=tab).click()
    return page.get_by_role("tabpanel", name=tab)


def screens(page: Page) -> Locator:
    """Return the screens."""
    return page.locator("claw-screen")


def box_of(part: Locator) -> FloatRect:
    """Return where a part of the page is."""
    box = part.bounding_box()
    assert box is not None
    return box


def pictures_shown(page: Page) -> list[bytes]:
    """Return the pictures of the screens that are shown."""
    uris = [one.get_attribute("src") for one in page.locator("claw-screen img:visible").all()]
    return [base64.b64decode(str(uri).partition(",")[2]) for uri in uris]


def test_outcome_and_error_are_the_first_thing_seen(shop: Page, failed_page: Path) -> None:
    """The failed step is selected, with the lines of the test; About has the rest."""
    expect(shop.locator("#outcome")).to_have_text("failed")
    expect(shop.get_by_role("heading", level=1)).to_have_text("TestCart › test_two_items_are_paid")
    expect(shop.locator("#facts")).to_contain_text("tests/test_shop.py")
    expect(shop.locator("#facts")).to_contain_text("Pixel 9")
    expect(shop.get_by_role("treeitem", selected=True)).to_contain_text('id="cart_total"')
    panel = shop.get_by_role("tabpanel", name="Error")
    expect(panel).to_contain_text("ExpectationError")
    expect(panel).to_contain_text('to have text "$99.00", found "$38.00"')
    expect(panel.locator(".line.here")).to_contain_text('to_have_text("$99.00")')
    expect(panel.locator("pre").filter(has_text="Traceback")).to_be_hidden()
    panel.get_by_text("Traceback").first.click()
    expect(panel.locator("pre").filter(has_text="Traceback")).to_be_visible()

    about = show(shop, "About")
    for text in ("Pixel 9", "1080 × 2400", "shop-2.4.0", "clawperator", "gw0"):
        expect(about).to_contain_text(text)
    link = about.get_by_role("link", name="battery.txt")
    assert (failed_page.parent / (link.get_attribute("href") or "")).read_text() == "level: 98\n"


def test_steps_are_nested_and_timed(shop: Page) -> None:
    """Blocks hold what is in them, failed ones are marked, and set-up is folded away."""
    steps = shop.get_by_role("tree", name="Steps")
    titles = ("Fill the cart", "Add item 2", 'click text="Item 2"')

    assert [step(shop, title).get_attribute("aria-level") for title in titles] == ["1", "2", "3"]
    expect(step(shop, titles[2]).locator(".time")).to_have_text(re.compile(r"\d+ ms"))
    failed = [re.compile("Check the cart"), re.compile("expect id")]
    expect(steps.locator(".entry.failed .what")).to_have_text(failed)
    expect(steps.locator(".entry.fixture")).to_have_count(2)
    expect(steps.locator(".entry.fixture").first).to_be_hidden()
    step(shop, "setup").click()
    expect(steps.locator(".entry.fixture").first).to_be_visible()
    step(shop, "Fill the cart").locator(".twist").click()
    expect(step(shop, titles[2])).to_be_hidden()


def test_a_click_shows_where_it_went(shop: Page) -> None:
    """Node and point are drawn on the screen before; pictures, boxes and the passed run beside."""
    step(shop, 'click text="Not now"').click()

    before, after = screens(shop).nth(0), screens(shop).nth(1)
    expect(before.locator(".finger")).to_be_visible()
    expect(before.locator(".mark.touched")).to_be_visible()
    expect(after.locator(".finger")).to_have_count(0)
    expect(after.get_by_role("img")).to_be_visible()
    panel = show(shop, "Tree")
    expect(panel.get_by_role("treeitem", selected=True)).to_contain_text("Not now")
    finger, touched = box_of(before.locator(".finger")), box_of(before.locator(".mark.touched"))
    middle = finger["x"] + finger["width"] / 2, finger["y"] + finger["height"] / 2
    assert touched["x"] < middle[0] < touched["x"] + touched["width"]
    assert touched["y"] < middle[1] < touched["y"] + touched["height"]
    shop.keyboard.press("p")
    expect(after.locator("canvas")).to_be_visible()
    shop.keyboard.press("p")
    expect(after.get_by_role("img")).to_be_visible()
    expect(screens(shop)).to_have_count(2)
    shop.keyboard.press("v")
    expect(screens(shop)).to_have_count(3)
    expect(shop.get_by_role("button", name="Passed: after")).to_be_visible()


def test_a_node_on_the_screen_is_found_in_the_tree(shop: Page) -> None:
    """Pointing shows it, a click keeps it, with its attributes and matchers to copy."""
    step(shop, 'click text="Add to cart"').click()
    panel = show(shop, "Tree")
    place = box_of(screens(shop).nth(0).locator(".mark.touched"))
    shop.mouse.move(place["x"] + 5, place["y"] + 5)

    expect(panel.locator(".row.pointed")).to_contain_text("Add to cart")
    shop.mouse.click(place["x"] + 5, place["y"] + 5)
    expect(panel.get_by_role("treeitem", selected=True)).to_contain_text("#add_to_cart")
    expect(panel.get_by_role("row", name="resource-id")).to_contain_text("com.example.shop:id/")
    first = panel.get_by_role("region", name="Matchers").get_by_role("listitem").first
    expect(first).to_contain_text('clawperator.node(id="add_to_cart")')
    expect(first).to_contain_text("unique")


def test_a_matcher_is_copied_as_code(browser: Browser, failed_page: Path) -> None:
    """What is copied can be pasted into a test."""
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = context.new_page()
        page.goto(failed_page.as_uri())
        step(page, 'click text="Add to cart"').click()
        show(page, "Tree").get_by_role("button", name="Copy the code").first.click()

        expect(page.locator("#said")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == 'clawperator.node(id="add_to_cart")'


def test_a_typed_matcher_shows_what_it_finds_at_any_moment(shop: Page) -> None:
    """On the screen, in the tree and beside every step; Enter goes to the next match."""
    step(shop, 'click text="Not now"').click()
    panel, status = show(shop, "Tree"), shop.locator("#matcher-status")
    box = shop.get_by_label("Matcher", exact=True)
    box.fill('role="button"')

    expect(status).to_have_text("2 matches")
    expect(screens(shop).nth(0).locator(".mark.match")).to_have_count(2)
    expect(screens(shop).nth(1).locator(".mark.match")).to_have_count(0)
    expect(panel.locator(".row.match")).to_have_count(2)
    expect(step(shop, 'click text="Not now"').locator(".found")).not_to_be_empty()
    expect(shop.locator(".film .bar.hit").first).to_be_visible()
    box.press("Enter")
    box.press("Enter")
    expect(status).to_have_text("2 of 2 matches")
    expect(panel.get_by_role("treeitem", selected=True)).to_contain_text("Show me")
    expect(screens(shop).nth(0).locator(".mark.chosen")).to_be_visible()
    step(shop, 'enter_text id="email"').click()
    expect(status).to_have_text("2 matches")
    found = [re.compile("#sign_in"), re.compile("#forgot")]
    expect(panel.locator(".row.match")).to_have_text(found)
    box.fill('claw.node(role="button").last.click()')
    expect(status).to_have_text("1 match · without .click()")
    expect(panel.locator(".row.match")).to_have_text(found[1:])
    box.fill('text="Cart (2)"')
    expect(step(shop, "expect id=").locator(".found")).to_have_text("0")
    expect(step(shop, 'to have text "$99.00"').locator(".found")).to_have_text("1")
    box.fill("nonsense=1")
    expect(status).to_contain_text("Nodes are not matched by nonsense=")
    expect(step(shop, "expect id=").locator(".found")).to_be_empty()
    box.press("Escape")
    expect(box).to_have_value("")
    expect(panel.locator(".row.match")).to_have_count(0)


def test_the_film_is_dragged_over(shop: Page) -> None:
    """Wherever it is dragged to, the step of that time is selected."""
    film = shop.get_by_role("slider", name="Time")
    expect(film.locator("img").first).to_be_visible()
    area, chosen = box_of(film), []
    shop.mouse.move(area["x"] + 2, area["y"] + 20)
    shop.mouse.down()
    for share in (0.01, 0.5, 0.999):
        shop.mouse.move(area["x"] + area["width"] * share, area["y"] + 30)
        chosen.append(shop.get_by_role("treeitem", selected=True).first.get_attribute("title"))
    shop.mouse.up()

    assert chosen[0] == "open_app com.example.shop"
    assert str(chosen[2]).startswith('expect id="cart_total"')
    assert len(set(chosen)) == 3
    expect(film).to_have_attribute("aria-valuenow", film.get_attribute("aria-valuemax") or "")


def test_payload_envelope_and_log_are_shown(shop: Page) -> None:
    """As JSON; the log by step, level and words."""
    step(shop, 'click text="Not now"').click()
    expect(show(shop, "Payload")).to_contain_text('"type": "click"')
    expect(show(shop, "Envelope")).to_contain_text('"status": "success"')
    step(shop, "expect id=").click()
    expect(shop.get_by_role("tabpanel", name="Envelope")).to_have_text("This step has no envelope.")

    step(shop, 'click text="Not now"').click()
    panel = show(shop, "Log")
    lines = panel.get_by_role("list", name="Lines of the log").get_by_role("listitem")
    expect(lines).to_have_count(3)
    panel.get_by_label("whole test").check()
    expect(lines.nth(3)).to_be_visible()
    panel.get_by_label("Search the log").fill("result clawperator")
    expect(panel.locator(".count")).to_contain_text(" of ")
    assert all("[Clawperator-Result]" in text for text in lines.all_text_contents())
    panel.get_by_label("Search the log").fill("")
    panel.get_by_label("Lowest level").select_option("errors")
    assert {one.get_attribute("class") for one in lines.all()} == {"level-E"}


def test_the_call_log_leads_to_each_check(shop: Page) -> None:
    """An expectation's checks are listed, and each shows the screen as it was then."""
    step(shop, "Summer sale").click()
    panel = show(shop, "Call")
    expect(panel).to_contain_text("tests/test_shop.py:")
    checks = panel.get_by_role("list", name="Call log").get_by_role("button")
    expect(checks.first).to_contain_text("nodes")
    checks.last.click()
    last = shop.get_by_role("button", name=re.compile(r"Check (\d+) of \1$"))
    expect(last).to_have_attribute("aria-pressed", "true")
    checks.first.click()

    first = shop.get_by_role("button", name=re.compile("Check 1 of"))
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(last).to_have_attribute("aria-pressed", "false")


def test_changes_between_two_moments_are_listed(shop: Page) -> None:
    """Before and after a step, any two moments, and with the run that passed."""
    step(shop, 'click text="Sign in"').click()
    panel = show(shop, "Changes")

    expect(panel.locator(".change.changed").first).to_contain_text("enabled: true → false")
    expect(screens(shop).nth(1).locator(".mark.changed").first).to_be_visible()
    moment = '2. enter_text id="email": before'
    panel.get_by_label("Compare this moment").select_option(label=moment)
    expect(panel.locator(".change.changed").first).to_contain_text("ada@example.com")
    step(shop, 'to have text "$99.00"').click()
    panel.get_by_role("button", name="Last run that passed").click()
    expect(panel).to_contain_text("No differences")


def test_the_checks_of_an_expectation_are_in_it(open_page: Open, tmp_path: Path) -> None:
    """An expectation's checks are nested in it, not separate steps; each screen has its picture."""
    shots = [picture("red"), picture("blue")]
    tab = open_page(expecting_trace(tmp_path / "trace", shots))
    steps, film = tab.get_by_role("tree", name="Steps"), tab.get_by_role("slider", name="Time")
    title = "expect the cell"
    expect(steps.get_by_role("treeitem", selected=True)).to_have_attribute("title", title)
    expect(film).to_have_attribute("aria-valuemax", "2")
    assert pictures_shown(tab) == shots
    checks = steps.locator("[title=snapshot_ui]")
    expect(checks.first).to_be_hidden()
    steps.get_by_title(title).locator(".twist").click()
    checks.last.click()

    expect(checks.last).to_have_attribute("aria-selected", "true")
    expect(film).to_have_attribute("aria-valuenow", "2")
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("ArrowLeft")
    expect(film).to_have_attribute("aria-valuenow", "1")


def test_a_picture_belongs_to_its_execution_whenever_it_arrived(
    open_page: Open, tmp_path: Path
) -> None:
    """The screen before a step is the picture after the last one, and that is stated."""
    shots = [picture("red"), picture("green"), picture("blue")]
    tab = open_page(late_pictures_trace(tmp_path / "trace", shots))
    step(tab, "Cell 1").click()

    expect(tab.locator("claw-screen img:visible")).to_have_count(2)
    assert pictures_shown(tab) == shots[:2]
    expect(tab.locator("figcaption").first).to_contain_text("its picture is a little older")


def test_without_pictures_nodes_are_drawn_as_boxes(open_page: Open, tmp_path: Path) -> None:
    """The hierarchy is drawn, and pointing at a box finds its node."""
    tab = open_page(long_trace(tmp_path / "trace", steps=3))
    view = screens(tab).nth(0)
    expect(view.locator("canvas")).to_be_visible()
    drawn = view.locator("canvas").evaluate(
        "(c) => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    )
    show(tab, "Tree")
    area = box_of(view.locator(".glass"))
    tab.mouse.move(area["x"] + area["width"] * 0.1, area["y"] + area["height"] * 0.06)

    assert drawn > 4
    expect(tab.locator(".row.pointed")).to_contain_text("#cell_0")


@pytest.mark.parametrize("kept", [1, 2, 3, 12])
def test_a_trace_that_was_cut_off_shows_how_far_it_came(
    open_page: Open, failed_trace: Trace, kept: int
) -> None:
    """A killed test has its steps and did not end; a trace without steps is not an error."""
    tab = open_page(Trace(failed_trace.folder, failed_trace.events[:kept]))

    expect(tab.locator("#outcome")).to_have_text("broken off")
    for title in ("Error", "Tree", "Call", "Payload", "Envelope", "Log", "Changes", "About"):
        show(tab, title)
    expect(tab.get_by_role("tabpanel", name="About")).to_contain_text("test_shop.py")
    expect(show(tab, "Error")).to_contain_text("was broken off")
    assert (tab.get_by_role("treeitem").count() > 0) == (kept > 2)


def test_the_step_that_matters_is_selected(open_page: Open, tmp_path: Path) -> None:
    """A failed block without executions, as a skill's; the last step of a test that passed."""
    events = [
        HEAD,
        PhaseBegan(at=100.0, name="setup"),
        PhaseBegan(at=100.1, name="call"),
        StepBegan(at=100.2, id=1, title="skill com.example.pay"),
        StepEnded(at=101.0, id=1, seconds=0.8, failure=Failure(type="SkillFailed", message="")),
        PhaseBegan(at=101.1, name="teardown"),
    ]
    tab = open_page(write_trace(tmp_path / "skill", events))
    expect(step(tab, "skill com.example.pay")).to_have_attribute("aria-selected", "true")

    open_page(shop_trace(tmp_path, total="$38.00", has_pictures=False))
    expect(tab.locator("#outcome")).to_have_text("passed")
    expect(tab.get_by_role("treeitem", selected=True).first).to_contain_text("Checkout")
    expect(tab.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")


def test_the_page_works_in_a_frame_without_storage(tab: Page, failed_page: Path) -> None:
    """As an attachment of a report: no storage, no origin, and themes still switch."""
    frame_file = failed_page.with_name("frame.html")
    frame_file.write_text(
        f'<iframe sandbox="allow-scripts" src="{failed_page.name}" width="1300" height="800">',
        encoding="utf-8",
    )
    tab.goto(frame_file.as_uri())
    frame = tab.frame_locator("iframe")

    expect(frame.get_by_role("treeitem", selected=True)).to_contain_text("cart_total")
    frame.get_by_role("button", name="Switch between light and dark").click()
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    frame.get_by_role("tab", name="Tree").click()
    expect(frame.get_by_role("treeitem", name="cart_total").first).to_be_visible()


def test_five_hundred_steps_are_walked_through(open_page: Open, tmp_path: Path) -> None:
    """The first, the last and any step between can be selected, and the film reaches them all."""
    tab = open_page(long_trace(tmp_path / "trace", steps=500))
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
    expect(tab.locator("#matcher-status")).to_have_text("1 match")


def test_five_thousand_nodes_are_searched_and_scrolled(open_page: Open, tmp_path: Path) -> None:
    """Only rows that are seen exist, and each node can be reached and found."""
    tab = open_page(long_trace(tmp_path / "trace", steps=4, nodes=5000, trees=2))
    show(tab, "Tree")
    tree = tab.get_by_role("tree", name="Nodes of the screen")
    expect(tree.get_by_role("treeitem").first).to_be_visible()
    assert tree.get_by_role("treeitem").count() < 100
    tree.press("End")
    expect(tree.get_by_role("treeitem", selected=True)).to_contain_text("#cell_4760")
    expect(tree.get_by_role("treeitem", selected=True)).to_be_in_viewport()
    tab.get_by_label("Matcher", exact=True).fill('text_contains="cell 47"')

    expect(tab.locator("#matcher-status")).to_have_text("72 matches")
    expect(tab.locator("claw-screen .mark.match:visible").first).to_be_visible()
    show(tab, "Changes")
    expect(tab.locator(".change.changed")).to_have_count(2)
