"""Expectations about a form, whose waiting takes no time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.errors import ExpectationError
from tests.doubles.clock import FakeTime
from tests.doubles.runner import Phone, client, node, screen

FORM = screen(
    node(text="Sign in", id="heading", kind="TextView"),
    node(text="ada", id="name", kind="EditText", focused=True),
    node(text="Wi-Fi", id="wifi", kind="Switch", checkable=True, checked=True),
    node(text="Sound", id="sound", kind="Switch", checkable=True),
    node(text="Pay", id="pay", kind="Button", enabled=False, clickable=True, focusable=True),
    node(text="Home", id="home", kind="TextView", selected=True),
    node(desc="Search", id="search", kind="ImageView", clickable=True),
    node(
        node(text="Version", id="title", kind="TextView"),
        node(text="16", id="summary", kind="TextView"),
        id="row",
    ),
    node(
        node(text="Half", kind="TextView", bounds="[10,2300][110,2500]"),
        bounds="[0,2000][1080,2400]",
        kind="ScrollView",
        scrollable=True,
    ),
    node(text="Away", kind="TextView", bounds="[0,5000][100,5050]"),
)


def assertions(matcher: dict[str, Any], shown: str = FORM) -> LocatorAssertions:
    """Return the expectations about a node, which wait a tenth of a second in no time."""
    expect = Expect(clock=FakeTime().clock)
    expect.set_timeout(0.1)
    expect.configure(linger=0)
    return expect(client(Phone(shown)).node(**matcher))


def failure(hold: Callable[[], None]) -> str:
    """Return the text of the failure."""
    with pytest.raises(ExpectationError) as caught:
        hold()
    return str(caught.value)
