"""The page in Chromium: every part shows what happened, and leads to the others."""

from __future__ import annotations

import base64
import re
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import (
    Failure,
    PhaseBegan,
    StepBegan,
    StepEnded,
    Trace,
    read_trace,
)
from tests.report.made_traces import (
    HEAD,
    expecting_trace,
    late_pictures_trace,
    long_trace,
    write_trace,
)
from tests.report.shop import record_shop

EXPECTED = "expect the cell"


def picture(colour: str) -> bytes:
    """Return a small picture."""
    file = BytesIO()
    Image.new("RGB", (36, 80), colour).save(file, "WEBP")
    return file.getvalue()


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


def test_outcome_and_error_are_the_first_thing_seen(shop: Page) -> None:
    """The failed step is selected, and its error is there with the lines of the test."""
    expect(shop.locator("#outcome")).to_have_text("failed")
    expect(shop.get_by_role("heading", level=1)).to_have_text("TestCart › test_two_items_are_paid")
    expect(shop.locator("#facts")).to_contain_text("tests/test_shop.py")
    expect(shop.locator("#facts")).to_contain_text("Pixel 9")
    expect(shop.get_by_role("treeitem", selected=True)).to_contain_text('id="cart_total"')
    panel = shop.get_by_role("tabpanel", name="Error")
    expect(panel).to_contain_text("ExpectationError")
    expect(panel).to_contain_text('to have text "$99.00", found "$38.00"')
    expect(panel.locator(".line.here")).to_contain_text("to_have_text(total, timeout=1)")
    expect(panel.locator("pre").filter(has_text="Traceback")).to_be_hidden()
    panel.get_by_text("Traceback").first.click()
    expect(panel.locator("pre").filter(has_text="Traceback")).to_be_visible()


def test_steps_are_nested_and_timed(shop: Page) -> None:
    """Blocks hold what is in them, failed ones are marked, and set-up is folded away."""
    steps = shop.get_by_role("tree", name="Steps")
    levels = {
        title: step(shop, title).get_attribute("aria-level")
        for title in ("Fill the cart", "Add item 2", 'click text="Item 2"')
    }

    assert list(levels.values()) == ["1", "2", "3"]
    expect(step(shop, 'click text="Item 2"').locator(".time")).to_have_text(re.compile(r"\d+ ms"))
    expect(steps.locator(".entry.failed .what")).to_have_text(
        ["Check the cart", re.compile("expect id")]
    )
    expect(steps.locator(".entry.fixture")).to_have_count(2)
    expect(steps.locator(".entry.fixture").first).to_be_hidden()
    step(shop, "setup").click()
    expect(steps.locator(".entry.fixture").first).to_be_visible()
    step(shop, "Fill the cart").locator(".twist").click()
    expect(step(shop, 'click text="Item 2"')).to_be_hidden()


def test_a_click_shows_where_it_went(shop: Page) -> None:
    """The touched node and the point are drawn on the screen before, and it is selected."""
    step(shop, 'click text="Not now"').click()

    before, after = screens(shop).nth(0), screens(shop).nth(1)
    expect(before.locator(".finger")).to_be_visible()
    expect(before.locator(".mark.touched")).to_be_visible()
    expect(after.locator(".finger")).to_have_count(0)
    expect(after.get_by_role("img")).to_be_visible()
    panel = show(shop, "Tree")
    expect(panel.get_by_role("treeitem", selected=True)).to_contain_text("Not now")
    finger = before.locator(".finger").bounding_box()
    touched = before.locator(".mark.touched").bounding_box()
    assert finger is not None
    assert touched is not None
    middle = finger["x"] + finger["width"] / 2, finger["y"] + finger["height"] / 2
    assert touched["x"] < middle[0] < touched["x"] + touched["width"]
    assert touched["y"] < middle[1] < touched["y"] + touched["height"]


def test_a_node_on_the_screen_is_found_in_the_tree(shop: Page) -> None:
    """Pointing shows it, a click keeps it, with its attributes and matchers to copy."""
    step(shop, 'click text="Add to cart"').click()
    panel = show(shop, "Tree")
    place = screens(shop).nth(0).locator(".mark.touched").bounding_box()
    assert place is not None
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
    """On the screen, in the tree, in the box, and beside every step of the test."""
    step(shop, 'click text="Not now"').click()
    panel = show(shop, "Tree")
    box = shop.get_by_label("Matcher", exact=True)
    box.fill('role="button"')

    expect(shop.locator("#matcher-status")).to_have_text("2 matches")
    expect(screens(shop).nth(0).locator(".mark.match")).to_have_count(2)
    expect(screens(shop).nth(1).locator(".mark.match")).to_have_count(0)
    expect(panel.locator(".row.match")).to_have_count(2)
    expect(step(shop, 'click text="Not now"').locator(".found")).not_to_be_empty()
    expect(shop.locator(".film .bar.hit").first).to_be_visible()
    step(shop, 'enter_text id="email"').click()
    expect(shop.locator("#matcher-status")).to_have_text("2 matches")
    expect(panel.locator(".row.match")).to_have_text(
        [re.compile("#sign_in"), re.compile("#forgot")]
    )
    box.fill('text="Cart (2)"')
    expect(step(shop, "expect id=").locator(".found")).to_have_text("0")
    expect(
        shop.get_by_role("treeitem", name='to have text "$99.00"').locator(".found")
    ).to_have_text("1")
    box.fill("nonsense=1")
    expect(shop.locator("#matcher-status")).to_contain_text("Nodes are not matched by nonsense=")
    expect(step(shop, "expect id=").locator(".found")).to_be_empty()


def test_matches_are_stepped_through(shop: Page) -> None:
    """Enter goes to the next match, in the tree and on the screen; Escape empties the box."""
    step(shop, 'click text="Not now"').click()
    box = shop.get_by_label("Matcher", exact=True)
    box.fill("role=button")
    box.press("Enter")
    box.press("Enter")

    expect(shop.locator("#matcher-status")).to_have_text("2 of 2 matches")
    panel = shop.get_by_role("tabpanel", name="Tree")
    expect(panel.get_by_role("treeitem", selected=True)).to_contain_text("Show me")
    expect(screens(shop).nth(0).locator(".mark.chosen")).to_be_visible()
    box.press("Escape")
    expect(box).to_have_value("")
    expect(panel.locator(".row.match")).to_have_count(0)


def test_the_film_is_dragged_over(shop: Page) -> None:
    """Wherever it is dragged to, the step of that time is selected."""
    film = shop.get_by_role("slider", name="Time")
    expect(film.locator("img").first).to_be_visible()
    area = film.bounding_box()
    assert area is not None
    chosen = []
    shop.mouse.move(area["x"] + 2, area["y"] + 20)
    shop.mouse.down()
    for share in (0.01, 0.5, 0.999):
        shop.mouse.move(area["x"] + area["width"] * share, area["y"] + 30)
        chosen.append(shop.get_by_role("treeitem", selected=True).first.get_attribute("title"))
    shop.mouse.up()

    assert chosen[0] == "open_app com.example.shop"
    assert chosen[2] is not None
    assert chosen[2].startswith('expect id="cart_total"')
    assert len(set(chosen)) == 3
    expect(film).to_have_attribute("aria-valuenow", film.get_attribute("aria-valuemax") or "")


def test_payload_and_envelope_are_shown(shop: Page) -> None:
    """Both as JSON, with long texts folded until they are asked for."""
    step(shop, 'click text="Not now"').click()

    expect(show(shop, "Payload")).to_contain_text('"type": "click"')
    envelope = show(shop, "Envelope")
    expect(envelope).to_contain_text('"status": "success"')
    step(shop, "expect id=").click()
    expect(shop.get_by_role("tabpanel", name="Envelope")).to_have_text("This step has no envelope.")


def test_the_log_is_filtered(shop: Page) -> None:
    """By step, level and words, with levels in colours."""
    step(shop, 'click text="Not now"').click()
    panel = show(shop, "Log")
    lines = panel.get_by_role("list", name="Lines of the log").get_by_role("listitem")
    expect(lines.first).to_be_visible()
    own = lines.count()
    panel.get_by_label("whole test").check()
    expect(lines.nth(own)).to_be_visible()
    panel.get_by_label("Search the log").fill("result clawperator")

    expect(panel.locator(".count")).to_contain_text(" of ")
    texts = [text.lower() for text in lines.all_text_contents()]
    assert any("[clawperator-result]" in text for text in texts)
    assert all("clawperator" in text and "result" in text for text in texts)
    panel.get_by_label("Search the log").fill("")
    panel.get_by_label("Lowest level").select_option("errors")
    classes = {one.get_attribute("class") for one in lines.all()}
    assert classes <= {"level-E", "level-F", "soft"}


def test_the_call_log_leads_to_each_look(shop: Page) -> None:
    """An expectation's looks are listed, and each shows the screen as it was then."""
    shop.get_by_role("treeitem", name="Summer sale").click()
    panel = show(shop, "Call")
    expect(panel).to_contain_text("tests/test_shop.py:")
    looks = panel.get_by_role("list", name="Call log").get_by_role("button")
    expect(looks.first).to_contain_text("nodes")
    looks.last.click()
    last = shop.get_by_role("button", name=re.compile(r"Check (\d+) of \1$"))
    expect(last).to_have_attribute("aria-pressed", "true")
    looks.first.click()

    first = shop.get_by_role("button", name=re.compile("Check 1 of"))
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(last).to_have_attribute("aria-pressed", "false")


def test_the_looks_of_an_expectation_are_in_it(tab: Page, tmp_path: Path) -> None:
    """They are no steps to walk through; each screen has the picture that was taken of it."""
    shots = [picture("red"), picture("blue")]
    write_page(expecting_trace(tmp_path / "trace", shots), tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())
    steps, film = tab.get_by_role("tree", name="Steps"), tab.get_by_role("slider", name="Time")
    expect(steps.get_by_role("treeitem", selected=True)).to_have_attribute("title", EXPECTED)
    expect(film).to_have_attribute("aria-valuemax", "2")
    uris = [one.get_attribute("src") for one in tab.locator("claw-screen img:visible").all()]
    assert [base64.b64decode(str(uri).partition(",")[2]) for uri in uris] == shots
    looks = steps.locator("[title=snapshot_ui]")
    expect(looks.first).to_be_hidden()
    steps.get_by_title(EXPECTED).locator(".twist").click()
    looks.last.click()

    expect(looks.last).to_have_attribute("aria-selected", "true")
    expect(film).to_have_attribute("aria-valuenow", "2")
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("ArrowLeft")
    expect(film).to_have_attribute("aria-valuenow", "1")


def test_a_picture_belongs_to_its_execution_whenever_it_arrived(tab: Page, tmp_path: Path) -> None:
    """What was there before a step is the picture after the last one, and that is told."""
    shots = [picture("red"), picture("green"), picture("blue")]
    write_page(late_pictures_trace(tmp_path / "trace", shots), tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())
    step(tab, "Cell 1").click()

    shown = tab.locator("claw-screen img:visible")
    expect(shown).to_have_count(2)
    uris = [one.get_attribute("src") for one in shown.all()]
    assert [base64.b64decode(str(uri).partition(",")[2]) for uri in uris] == shots[:2]
    expect(tab.locator("figcaption").first).to_contain_text("its picture is a little older")


def test_changes_between_two_moments_are_listed(shop: Page) -> None:
    """Before and after a step, any two moments, and with the run that passed."""
    step(shop, 'click text="Sign in"').click()
    panel = show(shop, "Changes")

    expect(panel.locator(".change.changed").first).to_contain_text("enabled: true → false")
    expect(screens(shop).nth(1).locator(".mark.changed").first).to_be_visible()
    panel.get_by_label("Compare this moment").select_option(
        label='2. enter_text id="email": before'
    )
    expect(panel.locator(".change.changed").first).to_contain_text("ada@example.com")
    shop.get_by_role("treeitem", name='to have text "$99.00"').click()
    panel.get_by_role("button", name="Last run that passed").click()
    expect(panel).to_contain_text("No differences")


def test_the_run_that_passed_is_shown_beside(shop: Page) -> None:
    """Its screen of the same step stands beside those of this run."""
    step(shop, 'click text="Item 4"').click()
    expect(screens(shop)).to_have_count(2)
    shop.keyboard.press("v")

    expect(screens(shop)).to_have_count(3)
    expect(shop.get_by_role("button", name="Passed: after")).to_be_visible()


def test_about_tells_of_device_environment_and_files(shop: Page, failed_page: Path) -> None:
    """Device, environment, fixtures, and files with links that lead to them."""
    panel = show(shop, "About")

    for told in ("Pixel 9", "1080 × 2400", "shop-2.4.0", "clawperator", "gw0"):
        expect(panel).to_contain_text(told)
    link = panel.get_by_role("link", name="battery.txt")
    assert (failed_page.parent / (link.get_attribute("href") or "")).read_text() == "level: 98\n"


def test_without_pictures_nodes_are_drawn_as_boxes(tab: Page, tmp_path: Path) -> None:
    """The hierarchy is drawn, and pointing at a box finds its node."""
    write_page(long_trace(tmp_path / "trace", steps=3), tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())
    view = screens(tab).nth(0)
    expect(view.locator("canvas")).to_be_visible()
    drawn = view.locator("canvas").evaluate(
        "(c) => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    )
    show(tab, "Tree")
    area = view.locator(".glass").bounding_box()
    assert area is not None
    tab.mouse.move(area["x"] + area["width"] * 0.1, area["y"] + area["height"] * 0.06)

    assert drawn > 4
    expect(tab.locator(".row.pointed")).to_contain_text("#cell_0")


def test_pictures_and_boxes_are_switched(shop: Page) -> None:
    """A key shows the hierarchy where a picture is, and the picture again."""
    step(shop, 'click text="Item 4"').click()
    view = screens(shop).nth(1)
    expect(view.get_by_role("img")).to_be_visible()
    shop.keyboard.press("p")
    expect(view.locator("canvas")).to_be_visible()
    shop.keyboard.press("p")

    expect(view.get_by_role("img")).to_be_visible()


def test_a_broken_off_trace_shows_how_far_it_came(
    tab: Page, failed_trace: Trace, tmp_path: Path
) -> None:
    """A test that was killed has its steps, and says that it did not end."""
    kept = tuple(failed_trace.events[:12])
    write_page(Trace(failed_trace.folder, kept), tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())

    expect(tab.locator("#outcome")).to_have_text("broken off")
    expect(tab.get_by_role("treeitem").first).to_be_visible()
    expect(show(tab, "Error")).to_contain_text("was broken off")


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_a_trace_of_next_to_nothing_is_shown(
    tab: Page, failed_trace: Trace, tmp_path: Path, kept: int
) -> None:
    """A trace without steps is no error of the page."""
    write_page(Trace(failed_trace.folder, failed_trace.events[:kept]), tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())
    for title in ("Tree", "Call", "Payload", "Envelope", "Log", "Changes", "About"):
        show(tab, title)

    expect(tab.get_by_role("tabpanel", name="About")).to_contain_text("test_shop.py")


def test_a_failed_block_without_executions_is_shown_first(tab: Page, tmp_path: Path) -> None:
    """A skill whose script failed is selected, though this process executed nothing in it."""
    events = [
        HEAD,
        PhaseBegan(at=100.0, name="setup"),
        PhaseBegan(at=100.1, name="call"),
        StepBegan(at=100.2, id=1, title="skill com.example.pay"),
        StepEnded(
            at=101.0, id=1, seconds=0.8, failure=Failure(type="SkillFailedError", message="")
        ),
        PhaseBegan(at=101.1, name="teardown"),
    ]
    write_page(write_trace(tmp_path / "trace", events), tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())

    expect(step(tab, "skill com.example.pay")).to_have_attribute("aria-selected", "true")


def test_a_passed_test_shows_its_last_step(tab: Page, tmp_path: Path) -> None:
    """Without pictures, too: as retain-on-failure leaves it."""
    record_shop(tmp_path, expected_total="$38.00", has_pictures=False)
    write_page(read_trace(tmp_path / "trace"), tmp_path / "page.html")
    tab.goto((tmp_path / "page.html").as_uri())

    expect(tab.locator("#outcome")).to_have_text("passed")
    expect(tab.get_by_role("treeitem", selected=True).first).to_contain_text("Checkout")
    expect(tab.get_by_role("tab", name="Tree")).to_have_attribute("aria-selected", "true")


def test_the_page_works_in_a_frame_that_may_keep_nothing(tab: Page, failed_page: Path) -> None:
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
    expect(tab.locator("#matcher-status")).to_have_text("1 match")


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

    expect(tab.locator("#matcher-status")).to_have_text("72 matches")
    expect(tab.locator("claw-screen .mark.match:visible").first).to_be_visible()
    tab.get_by_role("tab", name="Changes").click()
    expect(tab.locator(".change.changed")).to_have_count(2)
