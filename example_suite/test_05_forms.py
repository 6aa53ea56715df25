"""Lesson 5: forms. Fields, switches, boxes and buttons that are not always enabled."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE as CONFORMANCE
from example_suite.pages.conformance import Conformance
from example_suite.pages.shop import PACKAGE, Shop
from pytest_clawperator import Clawperator, expect

pytestmark = pytest.mark.claw_app(PACKAGE, clear=True)


@pytest.mark.claw_app(CONFORMANCE)
def test_a_switch(conformance: Conformance) -> None:
    """Being checked is waited for like anything else."""
    expect(conformance.toggle).to_be_checked()

    conformance.toggle.click()

    expect(conformance.toggle).not_to_be_checked()
    expect(conformance.status).to_have_text("Status: Disabled")


def test_entering_text(shop: Shop) -> None:
    """`enter_text` replaces what is in a field."""
    shop.email.enter_text("ada@example.org")
    shop.email.enter_text("ada@example.com")

    expect(shop.email).to_have_text("ada@example.com")


def test_emptying_a_field(shop: Shop) -> None:
    """`clear` empties a field; what is shown then is its hint."""
    shop.email.enter_text("ada@example.com")

    shop.email.clear()

    expect(shop.email).not_to_contain_text("ada")


@pytest.mark.parametrize("password", ["", "guess", "SECRET"], ids=["none", "wrong", "capital"])
def test_wrong_password(shop: Shop, password: str) -> None:
    """Parameters work as everywhere in pytest."""
    shop.email.enter_text("ada@example.com")
    if password:
        shop.password.enter_text(password)
    shop.claw.click(id="sign_in")

    expect(shop.error).to_have_text("Wrong e-mail or password")
    expect(shop.products).not_to_be_visible(timeout=0)


def test_checkout(clawperator: Clawperator, shop: Shop) -> None:
    """A button is enabled when the form is complete, and the order goes through."""
    shop.add_to_cart(3)
    shop.show_cart()
    clawperator.click(text="Checkout")
    order = clawperator.node(id="place_order")
    expect(order).to_be_disabled()

    clawperator.enter_text("Ada Lovelace", id="full_name")
    clawperator.enter_text("12 St James's Square", id="address")
    clawperator.click(text_contains="express")
    clawperator.click(text="I accept the terms")

    expect(clawperator.node(id="express")).to_be_checked()
    expect(clawperator.node(text="To pay")).to_have_value("$29.00")
    expect(order).to_be_enabled()
    order.click()
    expect(clawperator.node(id="order_number")).to_have_text("Order #1001")
