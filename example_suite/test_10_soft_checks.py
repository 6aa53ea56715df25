"""Lesson 10: soft checks. A test reports all its failures, not only the first."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE, Conformance
from example_suite.pages.settings import PACKAGE as SETTINGS
from example_suite.pages.settings import Settings
from example_suite.pages.shop import PACKAGE as SHOP
from example_suite.pages.shop import Shop
from pytest_clawperator import Clawperator, expect


@pytest.mark.claw_app(PACKAGE, missing="skip")
def test_all_of_a_screen(clawperator: Clawperator, conformance: Conformance) -> None:
    """After a soft failure the test goes on; it fails at its end, with all failures."""
    expect.soft(conformance.counter).to_have_text("Counter: 0")
    expect.soft(conformance.toggle).to_be_checked()
    expect.soft(conformance.increment).to_be_enabled()

    assert clawperator.node(text="Open List").exists()


@pytest.mark.claw_app(SHOP, clear=True, missing="skip")
def test_a_check_with_a_message(shop: Shop) -> None:
    """The second argument stands at the beginning of a failure."""
    shop.add_to_cart(3, 5)
    shop.show_cart()

    expect.soft(shop.cart_lines, "one line for each item").to_have_count(2)
    expect.soft(shop.cart_line("Item 5").node(id="line_price"), "its price").to_have_text("$33.00")
    expect.soft(shop.claw.node(text="Total"), "what it costs").to_have_value("$52.00")


@pytest.mark.claw_app(SETTINGS)
def test_on_one_snapshot(clawperator: Clawperator, settings: Settings) -> None:
    """Checks of one snapshot see the same moment, and take one look."""
    settings.rows.wait()
    screen = clawperator.snapshot()

    expect.soft(screen).to_be_in_app(SETTINGS)
    expect.soft(screen).to_have_node(id="title")
    expect.soft(screen.find(id="title")).to_be_enabled()
