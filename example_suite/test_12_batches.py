"""Lesson 12: batches. Several actions are sent as one execution."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE
from example_suite.pages.shop import PACKAGE as SHOP
from pytest_clawperator import Clawperator


@pytest.mark.claw_app(PACKAGE, missing="skip")
def test_counting_in_one_execution(clawperator: Clawperator) -> None:
    """A batch has the methods of the client; values are available after the block."""
    with clawperator.batch() as batch:
        for _ in range(5):
            batch.click(text="Increment")
        count = batch.read_text(id=f"{PACKAGE}:id/txt_counter")

    assert count.value == "Counter: 5"


@pytest.mark.claw_app(SHOP, clear=True, missing="skip")
def test_fill_the_cart(clawperator: Clawperator) -> None:
    """Ten actions are one execution."""
    with clawperator.batch() as batch:
        for number in (3, 5, 8):
            batch.open_uri(f"shop://item/{number}")
            batch.wait_for_node(text=f"Item {number}")
            batch.click(text="Add to cart")
        batch.open_uri("shop://cart")
        total = batch.read_value("Total")

    assert total.value == "$60.00"
