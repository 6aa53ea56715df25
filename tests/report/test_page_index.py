"""The index of a run in a real browser: groups, lanes, filters, keys, and no rule broken."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from pytest_clawperator.report.index import INDEX_FILE, PAGE_FILE, index_text, read_run, write_index
from tests.report.made_traces import START, ended, error, write_run, write_short_trace

HOSTILE = "<script>document.title='bad'</script></script><!--\u2028\u202eabc\ud800😀"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a run with tests of all outcomes on two devices, one with a trace and a page."""
    first, second = ("emulator-5554",), ("emulator-5556",)
    write_short_trace(tmp_path / "cart-1" / "trace", "test_cart")
    (tmp_path / "cart-1" / PAGE_FILE).write_text("<title>the trace</title>", encoding="utf-8")
    (tmp_path / "pay-2").mkdir()
    return write_run(
        tmp_path,
        ended("test_search", devices=first, start=START + 4, markers=("slow",)),
        ended(
            "test_pay",
            outcome="failed",
            devices=second,
            start=START + 1,
            stop=START + 9,
            error=error("expected node(text='Paid') to be visible, found no match"),
            folder="pay-2",
        ),
        ended(
            "test_cart",
            outcome="failed",
            devices=first,
            error=error("expected node(text='Cart') to be visible, found no match"),
        ),
        ended("test_lost", outcome="error", devices=second, error=error("gone", "DEVICE_OFFLINE")),
        ended("test_known", outcome="xfailed", devices=first, start=START + 7),
        ended("test_plain", start=START + 5, stop=START + 5.01),
    )


@pytest.fixture
def index(tab: Page, folder: Path) -> Page:
    """Open the index of that run."""
    write_index([read_run(folder)], folder / INDEX_FILE)
    tab.goto((folder / INDEX_FILE).as_uri())
    expect(tab.get_by_role("heading", level=1)).to_have_text("20260305-101500-3fa2")
    return tab


def shown(page: Page) -> list[str]:
    """Return the names of the tests that are shown."""
    return page.locator("li.test:not([hidden]) .open").all_text_contents()


def test_tests_groups_and_lanes_are_shown(index: Page) -> None:
    """In the order of their outcomes; failures that are alike are one group."""
    names = ["test_pay", "test_cart", "test_lost", "test_search", "test_plain", "test_known"]
    assert shown(index) == names
    row = index.locator("li.test").first
    expect(row.locator(".why")).to_have_text(
        "NODE_NOT_FOUND: expected node(text='Paid') to be visible, found no match"
    )
    expect(row.locator(".where")).to_have_text("emulator-5556")
    expect(row.locator(".time")).to_have_text("8.00 s")
    groups = index.locator(".group")
    assert groups.locator(".times").all_inner_texts() == ["2 ×", "1 ×"]
    groups.first.click()
    expect(index.locator("#tests .count")).to_have_text("2 of 6 tests")
    assert shown(index) == ["test_pay", "test_cart"]
    groups.first.click()
    expect(index.locator("#tests .count")).to_have_text("6 tests")
    lanes = [lane.get_attribute("aria-label") for lane in index.locator(".track").all()]
    assert lanes == [
        "emulator-5554: 3 tests, 1 passed, 1 failed, 1 xfailed; busy for 6.00 s",
        "emulator-5556: 2 tests, 1 failed, 1 error; busy for 10.0 s",
        "no device: 1 test, 1 passed; busy for 10 ms",
    ]
    index.locator(".bar.failed").first.click()
    expect(index.get_by_role("link", name="test_cart")).to_be_focused()
    assert index.get_by_role("link", name="test_pay").get_attribute("href") == "pay-2"
    assert index.get_by_role("link", name="test_search").count() == 0
    index.get_by_role("link", name="test_cart").click()
    expect(index).to_have_title("the trace")


def test_tests_are_filtered_and_sorted(index: Page) -> None:
    """By words, outcome and device together; the lanes fade what is not shown."""
    for order, first in (("duration", "test_pay"), ("time", "test_cart"), ("name", "test_cart")):
        index.get_by_label("Order", exact=True).select_option(order)
        assert shown(index)[0] == first
    index.get_by_label("Order", exact=True).select_option("outcome")
    search = index.get_by_label("Search", exact=True)
    search.fill("SLOW test_s")
    assert shown(index) == ["test_search"]
    search.fill("device_offline")
    assert shown(index) == ["test_lost"]
    search.fill("")
    index.get_by_role("button", name="2 failed").click()
    assert shown(index) == ["test_pay", "test_cart"]

    index.get_by_label("Device", exact=True).select_option("emulator-5554")

    assert shown(index) == ["test_cart"]
    assert index.locator(".bar:not(.out)").count() == 1


def test_the_keyboard_is_enough(index: Page) -> None:
    """Search, walk, filter, show all, open: without a mouse."""
    index.keyboard.press("/")
    expect(index.get_by_label("Search", exact=True)).to_be_focused()
    index.keyboard.type("test_cart")
    assert shown(index) == ["test_cart"]
    index.keyboard.press("Escape")
    assert len(shown(index)) == 6
    index.evaluate("document.activeElement.blur()")
    index.keyboard.press("f")
    assert shown(index) == ["test_pay", "test_cart"]
    index.keyboard.press("j")
    expect(index.get_by_role("link", name="test_pay")).to_be_focused()
    index.keyboard.press("ArrowDown")
    expect(index.get_by_role("link", name="test_cart")).to_be_focused()

    index.keyboard.press("Enter")

    expect(index).to_have_title("the trace")


def test_several_runs_are_one_index(tab: Page, folder: Path, tmp_path: Path) -> None:
    """Each run has its own lanes, and links start where the index is."""
    other = write_run(
        tmp_path / "shard", ended("test_b", devices=("emulator-5554",)), name="shard-2"
    )
    path = tmp_path / "all" / INDEX_FILE

    write_index([read_run(folder), read_run(other)], path)
    tab.goto(path.as_uri())

    expect(tab.get_by_role("heading", level=1)).to_have_text("2 runs")
    expect(tab.locator(".who").filter(has_text="emulator-5554, shard-2")).to_be_visible()
    assert tab.get_by_role("link", name="test_pay").get_attribute("href") == "../pay-2"


def test_hostile_texts_do_nothing(tab: Page, tmp_path: Path) -> None:
    """Whatever tests and devices are called, it is text; a run without tests is empty."""
    test = ended(HOSTILE, outcome="failed", devices=(HOSTILE,), markers=(HOSTILE,))
    odd = ended("odd", outcome="failed", error=error(HOSTILE), page="javascript:alert(1)")
    run = read_run(write_run(tmp_path / "run", test, odd, name=HOSTILE))
    write_index([run], tmp_path / INDEX_FILE)

    tab.goto((tmp_path / INDEX_FILE).as_uri())

    expect(tab.locator("li.test")).to_have_count(2)
    expect(tab).to_have_title(re.compile("^2 failed: <script>"))
    assert tab.locator("a[href]").count() == 0
    assert "<script>document" not in index_text([run], folder=tmp_path).partition("<body>")[2]
    write_index([read_run(write_run(tmp_path / "empty"))], tmp_path / INDEX_FILE)
    tab.reload()
    expect(tab.locator("#tests .count")).to_have_text("0 tests")


@pytest.mark.parametrize("width", [1440, 390])
def test_the_index_keeps_the_rules(
    browser: Browser, folder: Path, judge: Callable[[Page], list[Any]], width: int
) -> None:
    """At the start, filtered, with a chosen group, and with the dialog of keys."""
    write_index([read_run(folder)], folder / INDEX_FILE)
    with browser.new_context(
        viewport={"width": width, "height": 900}, bypass_csp=True, color_scheme="light"
    ) as context:
        page = context.new_page()
        page.goto((folder / INDEX_FILE).as_uri())
        found = {"start": judge(page)}
        page.locator(".group").first.click()
        page.get_by_role("button", name="2 failed").click()
        found["filtered"] = judge(page)
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("?")
        found["keys"] = judge(page)
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert {part: wrong for part, wrong in found.items() if wrong} == {}
    assert overflow <= 0
