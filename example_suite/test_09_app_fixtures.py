"""Lesson 9: the app of a test. Markers and fixtures bring it into the state that is needed."""

from __future__ import annotations

import pytest

from example_suite.pages.shop import PACKAGE, Shop
from pytest_clawperator import Clawperator, expect


@pytest.fixture(scope="module")
def signed_in(clawperator_client: Clawperator) -> None:
    """Sign in once for all tests of this file; this client lives for the whole run."""
    device = clawperator_client.device
    if not device.is_installed(PACKAGE):
        pytest.skip(f"{PACKAGE} is not installed on {device.info}")
    device.clear_data(PACKAGE)
    clawperator_client.open_app(PACKAGE)
    Shop(clawperator_client).sign_in()
    expect(clawperator_client.node(id="product_list")).to_be_visible()


@pytest.mark.claw_app(PACKAGE, missing="skip")
@pytest.mark.usefixtures("signed_in")
def test_signed_in_already(clawperator: Clawperator) -> None:
    """The app is started again before each test, but keeps its data."""
    clawperator.click(id="tab_account")

    expect(clawperator.node(text="Signed in as")).to_have_value("ada@example.com")


@pytest.mark.claw_app(PACKAGE, missing="skip")
@pytest.mark.usefixtures("signed_in")
def test_a_search_without_signing_in_again(shop: Shop) -> None:
    """No test of this file spends time on signing in again."""
    shop.search.enter_text("Item 20")

    expect(shop.claw.node(id="product_name").nth(0)).to_have_text("Item 20")


@pytest.mark.claw_app(PACKAGE, launch=False, clear=True, missing="skip")
def test_the_app_is_opened_by_a_link(clawperator: Clawperator) -> None:
    """With `launch=False` the test itself opens the app."""
    clawperator.open_uri("shop://item/7")

    expect(clawperator).to_be_in_app(PACKAGE)
    expect(clawperator.node(id="item_name")).to_have_text("Item 7")


@pytest.mark.claw_app(
    PACKAGE, clear=True, grant=["android.permission.ACCESS_FINE_LOCATION"], missing="skip"
)
def test_a_permission_given_before(clawperator: Clawperator, shop: Shop) -> None:
    """With `grant` the app has the permission, and shows no prompt."""
    shop.sign_in()
    clawperator.click(id="tab_account")

    clawperator.click(text="Find shops near me")

    expect(clawperator).to_have_no_overlay()
    expect(clawperator.node(text="3 shops within 2 km")).to_be_visible()


@pytest.mark.claw_app(PACKAGE, clear=True, missing="skip")
def test_a_permission_prompt(clawperator: Clawperator, shop: Shop) -> None:
    """Without `grant` the prompt is a window over the app, and can be answered."""
    shop.sign_in()
    clawperator.click(id="tab_account")
    clawperator.click(text="Find shops near me")

    clawperator.click(text_contains="while using")

    expect(clawperator.node(text="3 shops within 2 km")).to_be_visible()


@pytest.mark.claw_app("com.example.somewhere.else", missing="skip")
def test_an_app_that_is_not_installed(clawperator: Clawperator) -> None:
    """With `missing="skip"` a test whose app is not installed is skipped; else it is an error."""
    raise AssertionError("the test was not skipped")
