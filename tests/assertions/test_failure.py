"""What every failure says: message, log, and how late it was."""

from __future__ import annotations

import pickle

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.errors import ExpectationError
from tests.doubles.clock import FakeTime
from tests.doubles.expecting import FORM, assertions, failure
from tests.doubles.runner import Phone, client, node, screen


def test_the_message_of_the_test_comes_first() -> None:
    """The message of the test stands at the beginning of the failure."""
    expect = Expect(clock=FakeTime().clock)
    expect.set_timeout(0)

    told = failure(expect(client(Phone()).node(text="x"), "signed in").to_be_visible)

    assert "EXPECTATION_FAILED: signed in: expected node(text='x') to be visible" in told


def test_the_log_lists_what_was_found_meanwhile() -> None:
    """Values that changed while waiting are listed in their order."""
    loading = screen(node(text="Loading", id="total", kind="TextView"))
    ready = screen(node(text="$11", id="total", kind="TextView"))
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(screen(), screen(), loading, ready), timeout=0.1)

    told = failure(lambda: expect(claw.node(id="total")).to_have_text("$12"))

    assert "  waited 0.1 s:\n    2 × no match in 40 ms\n" in told
    assert '\n    1 × "Loading" in 20 ms\n    3 × "$11" in 40 ms\n' in told


def test_a_late_node_fails_with_how_late_it_was() -> None:
    """A node that appears after the deadline fails, with the time that was missing."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(*[screen()] * 16, FORM), timeout=0.1)

    told = failure(expect(claw.node(text="Sign in")).to_be_visible)

    assert "\n  appeared 0.2 s after the deadline\n" in told
    assert "set timeout= to more than 0.3 s" in told


def test_a_failure_pickles_with_all_details() -> None:
    """A failure keeps its text and details on the way from a worker."""
    with pytest.raises(ExpectationError) as caught:
        assertions({"text": "Sign out"}).to_be_visible()

    again = pickle.loads(pickle.dumps(caught.value))

    assert str(again) == str(caught.value)
    assert again.details == caught.value.details
    assert again.details["log"] == ["6 × no match in 0.1 s"]
    assert "Sign in" in again.details["xml"]
