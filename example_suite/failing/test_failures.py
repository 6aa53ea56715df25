"""What failures look like: each test fails on purpose, for another reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from example_suite.pages.conformance import PACKAGE, Conformance
from example_suite.pages.shop import PACKAGE as SHOP
from example_suite.pages.shop import Shop
from pytest_clawperator import Clawperator, expect

pytestmark = [pytest.mark.claw_app(PACKAGE), pytest.mark.claw_timeout(1)]


def test_a_misspelt_text(clawperator: Clawperator) -> None:
    """The error shows the nearest node, why it does not match, and the screen."""
    clawperator.click(text="Incremnt")


def test_a_text_that_differs(clawperator: Clawperator, conformance: Conformance) -> None:
    """The failure has what was expected, what was found, and how long it waited."""
    conformance.increment.click()

    expect(conformance.counter, "clicks so far").to_have_text("Counter: 2")


@pytest.mark.claw_app(SHOP, clear=True)
def test_too_little_time(shop: Shop) -> None:
    """If it comes true just after the deadline, the failure says so, with the time needed."""
    shop.sign_in()

    expect(shop.claw.node(text="Sign in")).not_to_be_visible(timeout=0.1)


def test_below_the_edge_of_the_screen(clawperator: Clawperator, conformance: Conformance) -> None:
    """The error of a search through a list says how far it came."""
    conformance.open_list()

    clawperator.scroll_until(text="row_150", max_scrolls=1)


def test_a_failed_envelope(clawperator: Clawperator) -> None:
    """The failure lists the steps, up to the one that failed."""
    envelope = clawperator.execute(
        [
            {"id": "count", "type": "click", "params": {"matcher": {"text": "Increment"}}},
            {
                "id": "check",
                "type": "read_text",
                "params": {
                    "matcher": {"resourceId": f"{PACKAGE}:id/txt_counter"},
                    "validator": "regex",
                    "validatorPattern": "^Counter: 7$",
                    "retry": {"maxAttempts": 1},
                },
            },
        ]
    )

    expect(envelope).to_have_succeeded()


def test_a_refused_payload(clawperator: Clawperator) -> None:
    """Nothing is sent; the error lists every problem, with suggestions."""
    clawperator.execute(
        [
            {"type": "clik", "params": {"matcher": {"text": "Increment"}}},
            {"type": "scroll", "params": {"direction": "dwon"}},
        ]
    )


def test_a_screen_that_differs(clawperator: Clawperator) -> None:
    """A golden that does not match is shown as a difference."""
    expect(clawperator).to_match_tree("""
        - text "Counter: 1"
        - button "Increment"
        - button "Open Table"
    """)


def test_several_soft_failures(conformance: Conformance) -> None:
    """Soft failures are reported together, each with its line."""
    expect.soft(conformance.counter).to_have_text("Counter: 5", timeout=0)
    expect.soft(conformance.toggle).not_to_be_checked(timeout=0)
    expect.soft(conformance.increment).to_be_disabled(timeout=0)


@pytest.mark.claw_app(SHOP, clear=True)
@pytest.mark.claw_timeout(5)
def test_something_lies_over_it(clawperator: Clawperator, shop: Shop) -> None:
    """The failure names the window over the app; the hint is to answer it first."""
    shop.sign_in()
    clawperator.click(id="tab_account")
    clawperator.click(text="Find shops near me")

    expect(clawperator.node(text="3 shops within 2 km")).to_be_visible(timeout=1)


@pytest.fixture
def a_cart_with_three_things(clawperator: Clawperator) -> None:
    """Fail before the test begins."""
    expect(clawperator.node(text="Cart (3)")).to_be_visible(timeout=0)


@pytest.mark.usefixtures("a_cart_with_three_things")
def test_a_fixture_fails() -> None:
    """A failure in a fixture is an error of the test, with the same evidence."""
    raise AssertionError("the fixture did not fail")


@pytest.fixture
def crash_dialog(clawperator: Clawperator) -> Iterator[None]:
    """Close the window that Android shows after a crash, so that the next test can run."""
    yield
    close = clawperator.node(text="Close app")
    if close.exists():
        close.click()


@pytest.mark.claw_app(SHOP, clear=True)
@pytest.mark.claw_timeout(5)
@pytest.mark.usefixtures("crash_dialog")
def test_the_app_crashes(clawperator: Clawperator, shop: Shop) -> None:
    """Another app is in front; the evidence contains the log of the crash."""
    shop.sign_in()
    clawperator.click(id="tab_account")
    clawperator.scroll_and_click(text="Crash")

    expect(clawperator).to_be_in_app(SHOP, timeout=1)


def test_the_lab_is_broken(clawperator: Clawperator) -> None:
    """The report separates trouble with the device from failures of the app."""
    clawperator.device.shell("settings put secure enabled_accessibility_services com.example/.None")

    clawperator.click(text="Increment")
