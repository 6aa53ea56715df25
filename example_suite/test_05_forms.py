"""Lesson 5: forms. Fields, switches, checkboxes, and buttons that are sometimes disabled."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE as CONFORMANCE
from example_suite.pages.conformance import Conformance
from example_suite.pages.shop import PACKAGE, Shop
from pytest_clawperator import Clawperator, expect

pytestmark = pytest.mark.claw_app(PACKAGE, clear=True, missing="skip")


@pytest.mark.claw_app(CONFORMANCE, missing="skip")
def test_a_switch_is_turned_off(conformance: Conformance) -> None:
    """The state of a switch is waited for, like everything else."""
    expect(conformance.toggle).to_be_checked()

    conformance.toggle.click()

    expect(conformance.toggle).not_to_be_checked()
    expect(conformance.status).to_have_text("Status: Disabled")


def test_entering_text_replaces_the_old_one(shop: Shop) -> None:
    """`enter_text` replaces the text of a field."""
    shop.email.enter_text("ada@example.org")
    shop.email.enter_text("ada@example.com")

    expect(shop.email).to_have_text("ada@example.com")


def test_emptying_a_field(shop: Shop) -> None:
    """`clear` empties a field; then it shows its hint."""
    shop.email.enter_text("ada@example.com")

    shop.email.clear()

    expect(shop.email).not_to_contain_text("ada")


@pytest.mark.parametrize("password", ["", "guess", "SECRET"], ids=["none", "wrong", "capital"])
def test_a_wrong_password_is_refused(shop: Shop, password: str) -> None:
    """Tests can have parameters, as always in pytest."""
    shop.email.enter_text("ada@example.com")
    if password:
        shop.password.enter_text(password)
    shop.claw.click(id="sign_in")

    expect(shop.error).to_have_text("Wrong e-mail or password")
    expect(shop.products).not_to_be_visible(timeout=0)


def test_an_order_is_placed(clawperator: Clawperator, shop: Shop) -> None:
    """The button is enabled when the form is complete; then the order is placed."""
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
