"""A browser, a tab that tells what goes wrong in it, and pages of a recorded test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, ViewportSize, expect

from pytest_clawperator.report.page import write_page
from pytest_clawperator.report.trace import Trace, read_trace
from tests.doubles.chromium import chromium
from tests.report.shop import record_shop

# A machine that is busy with other tests may take its time.
expect.set_options(timeout=15_000)


DESK = ViewportSize(width=1440, height=900)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start one browser for all tests of a module."""
    with chromium() as started:
        yield started


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """Open a tab in which nothing may go wrong: no error, dialog, violation or request."""
    wrong: list[str] = []

    def refuse(dialog: Dialog) -> None:
        wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    with browser.new_context(viewport=DESK, color_scheme="light") as context:
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda told: wrong.append(f"console: {told.text}"))
        page.on("dialog", refuse)
        page.on("request", lambda one: None if _is_own(one.url) else wrong.append(one.url[:200]))
        yield page
    assert wrong == []


def _is_own(url: str) -> bool:
    return url.startswith(("file:", "data:", "blob:"))


@pytest.fixture(scope="session")
def failed_trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Record a test of the shop that fails at the end."""
    folder = tmp_path_factory.mktemp("failed")
    record_shop(folder, expected_total="$99.00")
    return read_trace(folder / "trace")


@pytest.fixture(scope="session")
def passed_trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Record the same test, passing."""
    folder = tmp_path_factory.mktemp("passed")
    record_shop(folder, expected_total="$38.00")
    return read_trace(folder / "trace")


@pytest.fixture(scope="session")
def failed_page(failed_trace: Trace, passed_trace: Trace) -> Path:
    """Write the page of the failed test, with the passed one to compare with."""
    path = failed_trace.folder.parent / "page.html"
    write_page(failed_trace, path, passed=passed_trace)
    return path


@pytest.fixture
def shop(tab: Page, failed_page: Path) -> Page:
    """Open the page of the failed test."""
    tab.goto(failed_page.as_uri())
    expect(tab.get_by_role("tree", name="Steps")).to_be_visible()
    return tab
