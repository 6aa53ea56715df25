"""Lesson 3: waiting. Nothing here sleeps: whatever is wanted is looked for until it is there."""

from __future__ import annotations

import pytest

from example_suite.pages.settings import PACKAGE as SETTINGS
from example_suite.pages.settings import Settings
from example_suite.pages.shop import PACKAGE, Shop
from pytest_clawperator import Clawperator, expect

pytestmark = pytest.mark.claw_app(PACKAGE, clear=True)


def test_expectations_wait(shop: Shop) -> None:
    """Signing in takes a moment, and so do the products: `expect` waits for both."""
    shop.sign_in()

    expect(shop.products).to_be_visible()


def test_waiting_for_the_end(clawperator: Clawperator, shop: Shop) -> None:
    """What must go away is waited for, too."""
    shop.sign_in()

    expect(clawperator.node(text="Sign in")).not_to_be_visible()
    expect(clawperator.node(desc="Loading products")).not_to_be_visible(timeout=10)


def test_waiting_for_a_node(clawperator: Clawperator, shop: Shop) -> None:
    """Actions wait for their node; `wait` does nothing else, as long as it is told."""
    shop.sign_in()

    clawperator.node(text="Item 2").wait(timeout=20).click()

    expect(clawperator.node(id="item_price")).to_have_text("$12.00")


@pytest.mark.claw_timeout(15)
def test_more_time_for_a_whole_test(clawperator: Clawperator, shop: Shop) -> None:
    """The marker sets how long actions and expectations of this test look for a node."""
    shop.sign_in()

    clawperator.click(text="Not now")  # an offer, which comes some seconds later

    expect(clawperator.node(text="Summer sale")).not_to_be_visible()
    assert clawperator.timeout == 15


def test_looking_once(clawperator: Clawperator) -> None:
    """`timeout=0` is exactly one look, and `exists()` is one, too."""
    expect(clawperator.node(text="Wrong e-mail or password")).not_to_be_visible(timeout=0)

    assert clawperator.node(text="Welcome back").exists()


@pytest.mark.claw_app(SETTINGS)
def test_waiting_for_anything(clawperator: Clawperator, settings: Settings) -> None:
    """`expect.poll` calls a function until what it gives is right."""
    expect.poll(lambda: clawperator.device.current_package()).to_equal(SETTINGS)
    expect.poll(lambda: settings.rows.count() > 3, "rows of the first page").to_be_truthy()
