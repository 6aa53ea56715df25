"""Takes the pictures that the documents show: ``python -m tests.report.screenshots``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect

from tests.doubles.chromium import chromium

IMAGES = Path(__file__).parents[2] / "docs" / "images"

LAPTOP, PHONE = ViewportSize(width=1440, height=900), ViewportSize(width=390, height=844)

OPTIONS = ("--claw-device=sim", "--claw-sim-time-scale=0.1", "--claw-trace=on", "-q")

TEST = """\
import pytest

from pytest_clawperator import Clawperator, expect


@pytest.mark.claw_app("com.example.shop", clear=True)
def test_two_items_are_paid(clawperator: Clawperator) -> None:
    with clawperator.step("Sign in"):
        clawperator.enter_text("ada@example.com", id="email")
        clawperator.enter_text("secret", id="password")
        clawperator.click(id="sign_in")
        expect(clawperator.node(text="Summer sale")).to_be_visible()
        clawperator.click(text="Not now")

    with clawperator.step("Fill the cart"):
        for number in (2, 4):
            with clawperator.step(f"Add item {number}"):
                clawperator.click(text=f"Item {number}")
                clawperator.click(text="Add to cart")
                clawperator.back()

    with clawperator.step("Check the cart"):
        clawperator.click(id="cart_button")
        total = clawperator.node(id="cart_total")
        expect(total).to_have_text("{total}", timeout=1)
"""


def select(page: Page, title: str) -> None:
    """Select a step by its title."""
    page.get_by_role("treeitem", name=title).first.click()


def show_node(page: Page) -> None:
    """Show a click with its node."""
    select(page, "sign_in")
    page.keyboard.press("2")


def show_matcher(page: Page) -> None:
    """Show what a matcher finds, everywhere."""
    select(page, "click text='Item 4'")
    page.keyboard.press("2")
    page.get_by_label("Matcher", exact=True).fill('role="button", text_contains="item"')
    page.locator("#steps .found.some").first.wait_for()


def show_changes(page: Page) -> None:
    """Show what a click changed."""
    select(page, "sign_in")
    page.keyboard.press("7")
    page.keyboard.press("v")
    expect(page.locator("claw-screen")).to_have_count(3)


def show_touch(page: Page) -> None:
    """Show where a click went, on a narrow window."""
    page.get_by_role("button", name="Steps").click()
    select(page, "click text='Item 2'")
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


def run_test(folder: Path, total: str) -> Path:
    """Run the test with this total; return its page."""
    (folder / "test_cart.py").write_text(TEST.replace("{total}", total), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "pytest", *OPTIONS], cwd=folder, check=False)
    return max(folder.glob("claw-results/*/*/trace.html"), key=lambda page: page.stat().st_mtime)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        run_test(Path(name), "$38.00")
        take(run_test(Path(name), "$99.00"))
