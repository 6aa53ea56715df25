"""A browser, a tab in which nothing may go wrong, and the page of a failed test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import Trace
from tests import page_tools
from tests.doubles.chromium import browser, watched_tab
from tests.report.made_traces import shop_trace

__all__ = ["browser"]

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

_JUDGE = """async (rules) => (await axe.run(document, { runOnly: rules })).violations
  .map(({ id, help, nodes }) => [id, help, nodes.slice(0, 3).map((one) => one.html)])"""


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """Open a tab that shows files."""
    with watched_tab(browser, own=("file:", "data:", "blob:"), is_wrong=bool) as page:
        yield page


@pytest.fixture
def open_page(tab: Page, tmp_path: Path) -> Callable[[Trace], Page]:
    """Return the function that writes the page of a trace and opens it."""

    def opened(trace: Trace) -> Page:
        write_page(trace, tmp_path / "page.html")
        tab.goto((tmp_path / "page.html").as_uri())
        return tab

    return opened


@pytest.fixture(scope="session")
def failed_trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Make the trace of a test of the shop that fails at the end."""
    return shop_trace(tmp_path_factory.mktemp("failed"))


@pytest.fixture(scope="session")
def failed_page(failed_trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of the failed test, with the passed one to compare with."""
    path = failed_trace.folder.parent / "page.html"
    passed = shop_trace(tmp_path_factory.mktemp("passed"), total="$38.00")
    write_page(failed_trace, path, passed=passed)
    return path


@pytest.fixture
def shop(tab: Page, failed_page: Path) -> Page:
    """Open the page of the failed test."""
    tab.goto(failed_page.as_uri())
    expect(tab.get_by_role("tree", name="Steps")).to_be_visible()
    return tab


@pytest.fixture
def judge() -> Callable[[Page], list[Any]]:
    """Return the function that returns what axe-core finds wrong with a page, light and dark."""
    if reason := page_tools.missing():
        pytest.skip(reason)
    axe = page_tools.file_of("axe-core", "axe.min.js").read_text(encoding="utf-8")

    def judged(page: Page) -> list[Any]:
        if not page.evaluate("'axe' in globalThis"):
            page.evaluate(axe)
        found = page.evaluate(_JUDGE, RULES)
        page.emulate_media(color_scheme="dark")
        found += page.evaluate(_JUDGE, {"type": "rule", "values": ["color-contrast"]})
        page.emulate_media(color_scheme="light")
        return list(found)

    return judged
