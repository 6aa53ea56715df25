"""Lesson 3: waiting. No test sleeps: actions and expectations wait for their node."""

from __future__ import annotations

import pytest

from example_suite.pages.settings import PACKAGE as SETTINGS
from example_suite.pages.settings import Settings
from example_suite.pages.shop import PACKAGE, Shop
from pytest_clawperator import Clawperator, expect

pytestmark = pytest.mark.claw_app(PACKAGE, clear=True, missing="skip")


def test_an_expectation_waits(shop: Shop) -> None:
    """Signing in and loading take a moment: `expect` waits for both."""
    shop.sign_in()

    expect(shop.products).to_be_visible()


def test_waiting_for_the_end(clawperator: Clawperator, shop: Shop) -> None:
    """An expectation can also wait until something has gone."""
    shop.sign_in()

    expect(clawperator.node(text="Sign in")).not_to_be_visible()
    expect(clawperator.node(desc="Loading products")).not_to_be_visible(timeout=10)


def test_waiting_for_a_node(clawperator: Clawperator, shop: Shop) -> None:
    """Actions wait for their node; `wait` only waits, here for up to 20 seconds."""
    shop.sign_in()

    clawperator.node(text="Item 2").wait(timeout=20).click()

    expect(clawperator.node(id="item_price")).to_have_text("$12.00")


@pytest.mark.claw_timeout(15)
def test_more_time_for_a_whole_test(clawperator: Clawperator, shop: Shop) -> None:
    """The marker sets the timeout of all actions and expectations of this test."""
    shop.sign_in()

    clawperator.click(text="Not now")  # an offer, which comes some seconds later

    expect(clawperator.node(text="Summer sale")).not_to_be_visible()
    assert clawperator.timeout == 15


def test_looking_only_once(clawperator: Clawperator) -> None:
    """`timeout=0` looks exactly once, and so does `exists()`."""
    expect(clawperator.node(text="Wrong e-mail or password")).not_to_be_visible(timeout=0)

    assert clawperator.node(text="Welcome back").exists()


@pytest.mark.claw_app(SETTINGS)
def test_waiting_for_anything(clawperator: Clawperator, settings: Settings) -> None:
    """`expect.poll` calls a function until its value is as expected."""
    expect.poll(lambda: clawperator.device.current_package()).to_equal(SETTINGS)
    expect.poll(lambda: settings.rows.count() > 3, "rows of the first page").to_be_truthy()
