"""Takes the pictures that the documents show: ``python -m tests.report.page.screenshots``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect

from pytest_clawperator.report.page.page import write_page
from pytest_clawperator.report.trace.reading import read_trace
from tests.doubles.chromium import chromium
from tests.report.page.shop import record_shop

IMAGES = Path(__file__).parents[3] / "docs" / "images"
LAPTOP, PHONE = ViewportSize(width=1440, height=900), ViewportSize(width=390, height=844)


def select(page: Page, title: str) -> None:
    """Select a step by its title."""
    page.get_by_role("treeitem", name=title).first.click()


def show_node(page: Page) -> None:
    """Show a click with its node."""
    select(page, 'click text="Sign in"')
    page.keyboard.press("2")


def show_matcher(page: Page) -> None:
    """Show what a matcher finds, everywhere."""
    select(page, 'click text="Item 4"')
    page.keyboard.press("2")
    page.get_by_label("Matcher", exact=True).fill('role="button", text_contains="item"')
    page.locator("#steps .found.some").first.wait_for()


def show_changes(page: Page) -> None:
    """Show what a click changed."""
    select(page, 'click text="Sign in"')
    page.keyboard.press("7")
    page.keyboard.press("v")
    expect(page.locator("claw-screen")).to_have_count(3)


def show_touch(page: Page) -> None:
    """Show where a click went, on a narrow window."""
    page.get_by_role("button", name="Steps").click()
    select(page, 'click text="Add to cart"')
    page.get_by_role("button", name="Screen").click()


PICTURES: dict[str, tuple[ViewportSize, str, Callable[[Page], None]]] = {
    "trace-error": (LAPTOP, "light", lambda page: None),
    "trace-node": (LAPTOP, "light", show_node),
    "trace-matcher": (LAPTOP, "dark", show_matcher),
    "trace-changes": (LAPTOP, "light", show_changes),
    "trace-phone": (PHONE, "light", show_touch),
}


def take(page_file: Path) -> None:
    """Take all pictures of a page."""
    with chromium() as browser:
        for name, (size, scheme, prepare) in PICTURES.items():
            with browser.new_context(viewport=size) as context:
                page = context.new_page()
                page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                page.goto(page_file.as_uri())
                expect(page.locator("claw-screen .glass:visible").first).to_be_visible()
                prepare(page)
                page.wait_for_timeout(500)
                picture = Image.open(BytesIO(page.screenshot()))
            small = picture.convert("RGB").quantize(200, dither=Image.Dither.NONE)
            small.save(IMAGES / f"{name}.png", optimize=True)
            print(name, (IMAGES / f"{name}.png").stat().st_size)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for kind, total in (("failed", "$99.00"), ("passed", "$38.00")):
            (Path(folder) / kind).mkdir()
            record_shop(Path(folder) / kind, expected_total=total, time_scale=0.3)
        failed, passed = (read_trace(Path(folder) / k / "trace") for k in ("failed", "passed"))
        write_page(failed, Path(folder) / "page.html", passed=passed)
        take(Path(folder) / "page.html")
