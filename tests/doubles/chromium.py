"""A browser for tests of pages; the tests are skipped where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.programs import CHROMIUM, find, missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# As root, as in most containers, its own sandbox does not work.
_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium of this machine, without a window."""
    if reason := missing(CHROMIUM):
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(CHROMIUM), args=list(_OPTIONS))
        yield browser
        browser.close()
