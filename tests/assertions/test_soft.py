"""Soft failures: kept until the end of the test."""

from __future__ import annotations

import traceback

import pytest

from pytest_clawperator.assertions import soft
from pytest_clawperator.assertions.expect import Expect, expect
from pytest_clawperator.assertions.soft import collecting
from pytest_clawperator.errors import ConfigurationError, ExpectationError, SnapshotError
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.runner import SHOP, Phone, client

SNAPSHOT = Snapshot.from_xml(SHOP)


def test_a_soft_failure_lets_the_test_go_on() -> None:
    """It is kept with its line in the test, at which it is raised in the end."""
    with collecting() as failures:
        expect.soft(SNAPSHOT).to_have_node(text="Cheese")
        expect.soft(SNAPSHOT).to_have_node(text="Milk")

    with pytest.raises(ExpectationError) as caught:
        raise failures.error

    (error,) = failures.errors
    line = 'expect.soft(SNAPSHOT).to_have_node(text="Cheese")'
    assert caught.value is error
    assert error.details["where"].startswith("tests/assertions/test_soft.py:")
    assert error.details["where"].endswith(line)
    assert traceback.extract_tb(error.__traceback__)[-1].line == line


def test_several_failures_become_one_error() -> None:
    """One error lists all failures, and shows the same screen only once."""
    with collecting() as failures:
        expect.soft(SNAPSHOT, "first").to_have_node(text="Cheese")
        expect.soft(SNAPSHOT, "second").to_have_node(text="Wine")

    message = str(failures.error)

    assert message.startswith("EXPECTATION_FAILED: 2 checks failed\n1. ")
    assert "\nEXPECTATION_FAILED: first: expected node(text='Cheese')" in message
    assert "\nEXPECTATION_FAILED: second: expected node(text='Wine')" in message
    assert message.count("on the screen:\n") == 1
    assert message.count("  on the screen: as above\n") == 1


def test_a_screen_that_was_not_read_is_not_hidden_by_other_failures() -> None:
    """The error for all failures is that of the device."""
    claw = client(Phone(data={"snapshot_ui": {"error": "UI_TREE_UNAVAILABLE"}}), timeout=0.0)
    with collecting() as failures:
        expect.soft(SNAPSHOT).to_have_node(text="Cheese")
        expect.soft(claw.node(text="Wine")).to_be_visible()

    error = failures.error

    assert isinstance(error, SnapshotError)
    assert (error.code, error.serial) == ("UI_TREE_UNAVAILABLE", claw.serial)
    assert "2 checks failed\n1. " in str(error)


def test_polling_can_be_soft() -> None:
    """A failure of expect.soft.poll() is kept too."""
    with collecting() as failures:
        Expect().soft.poll(lambda: 1).to_equal(2, timeout=0)

    assert "expected the polled value to equal 2, found 1" in str(failures.error)


def test_nested_collections_are_separate() -> None:
    """A run inside a test keeps its failures to itself."""
    with collecting() as outer:
        with collecting() as inner:
            expect.soft(SNAPSHOT).to_have_node(text="Cheese")
        expect.soft(SNAPSHOT).to_have_node(text="Wine")

    assert [len(inner.errors), len(outer.errors)] == [1, 1]


def test_a_soft_failure_outside_a_test_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A soft failure that is not collected is not lost."""
    with monkeypatch.context() as patch:
        patch.setattr(soft, "_scopes", [])
        with pytest.raises(ConfigurationError, match="outside of a test") as caught:
            expect.soft(SNAPSHOT).to_have_node(text="Cheese")

    assert isinstance(caught.value.__cause__, ExpectationError)
