"""Expectations as a user's type checker sees them; this file is checked, never run."""

from __future__ import annotations

import re

from typing_extensions import assert_type

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.assertions.expect_envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expect_poll import PollAssertions
from pytest_clawperator.assertions.expect_screen import ScreenAssertions, SnapshotAssertions
from pytest_clawperator.client.client import Clawperator


def subjects(claw: Clawperator) -> None:
    """Each subject offers its own checks, softly too."""
    assert_type(expect(claw.node(text="OK")), LocatorAssertions)
    assert_type(expect(claw, "signed in"), ScreenAssertions)
    assert_type(expect(claw.snapshot()), SnapshotAssertions)
    assert_type(expect(claw.snapshot().find(text="OK")), LocatorAssertions)
    assert_type(expect(claw.execute([])), EnvelopeAssertions)
    assert_type(expect.soft(claw.node(text="OK")), LocatorAssertions)
    assert_type(expect.poll(lambda: 3), PollAssertions[int])


def checks(claw: Clawperator) -> None:
    """Each check takes its kinds of arguments."""
    expect(claw.node(text="OK")).to_have_text(re.compile("O"), timeout=3)
    expect(claw.node(text="OK")).not_to_have_text(["OK", re.compile("Cancel")])
    expect(claw).to_match_tree("login", exact=True, ignore=[claw.node(id="clock"), {"role": "x"}])
    expect(claw).to_match_screenshot("login", threshold=0.2, mask=[claw.node(id="clock")])
    expect(claw.execute([])).to_have_data("a", error="X", other=..., third=re.compile("."))
    expect.poll(claw.device.serial.upper).to_equal("X", timeout=1)


def mistakes(claw: Clawperator) -> None:
    """Make the mistakes that a type checker should notice."""
    expect("text")  # type: ignore[call-overload]  # a text has no checks
    expect(claw.node(text="OK")).to_be_seen()  # type: ignore[attr-defined]  # no such check
    expect(claw.node(text="OK")).to_have_count("3")  # type: ignore[arg-type]  # a number
    expect(claw.snapshot()).to_match_screenshot("x")  # type: ignore[attr-defined]  # no picture
