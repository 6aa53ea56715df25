"""A browser for tests of pages; the tests are skipped where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.programs import CHROMIUM, find, missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

# As root, as in most containers, its own sandbox does not work.
_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# A machine that is busy with other tests may take its time.
_PATIENCE_MS = 15_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium of this machine, without a window."""
    if reason := missing(CHROMIUM):
        pytest.skip(reason)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=_PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(CHROMIUM), args=list(_OPTIONS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start one browser for all tests of a module; other modules may use asyncio."""
    with chromium() as started:
        yield started


@contextmanager
def watched_tab(
    browser: Browser, *, own: tuple[str, ...], is_wrong: Callable[[str], bool]
) -> Iterator[Page]:
    """Open a tab, and fail on errors, dialogs, wrong console lines and requests to others."""
    wrong: list[str] = []

    def refuse(dialog: Dialog) -> None:
        wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    with browser.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme="light"
    ) as context:
        page = context.new_page()
        page.set_default_timeout(_PATIENCE_MS)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda line: wrong.append(line.text) if is_wrong(line.text) else None)
        page.on("dialog", refuse)
        page.on(
            "request", lambda one: None if one.url.startswith(own) else wrong.append(one.url[:200])
        )
        yield page
    assert wrong == []
