"""The subjects of ``expect``, and its settings."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect, expect
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expect_screen import ScreenAssertions, SnapshotAssertions
from pytest_clawperator.assertions.expectation import watching
from pytest_clawperator.assertions.soft import collecting
from pytest_clawperator.errors import ConfigurationError, ExpectationError, SnapshotError
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.runner import SHOP, Phone, client


def test_each_subject_has_its_checks() -> None:
    """The checks that are offered depend on the subject."""
    claw = client(Phone())
    snapshot = Snapshot.from_xml(SHOP)

    with watching():
        offered = [
            type(expect(claw.node(text="x"))),
            type(expect(snapshot.find(text="Tea"))),
            type(expect(claw)),
            type(expect(snapshot)),
        ]

    assert offered == [*[LocatorAssertions] * 2, ScreenAssertions, SnapshotAssertions]


def test_every_check_has_its_opposite() -> None:
    """No check lacks its opposite, and no opposite its check."""
    for kind in (LocatorAssertions, ScreenAssertions, SnapshotAssertions):
        names = {name for name in dir(kind) if name.startswith(("to_", "not_to_"))}
        positive = {name for name in names if name.startswith("to_")}

        assert names - positive == {f"not_{name}" for name in positive}


@pytest.mark.parametrize("target", [3, True, "text", "", None, {"text": "OK"}, [SHOP], lambda: 1])
def test_other_subjects_are_refused(target: object) -> None:
    """A subject of another type is refused, with its type."""
    with pytest.raises(ConfigurationError, match=r"expect\(\) does not take an object of type"):
        expect(target)  # type: ignore[call-overload]


@pytest.mark.parametrize("message", [10, 0, True, ["x"], b"x"])
def test_a_message_is_a_text(message: Any) -> None:
    """A timeout in its place would be taken for the message."""
    for entry in (expect, expect.soft):
        with pytest.raises(ConfigurationError, match="A timeout belongs to the check"):
            entry(Snapshot.from_xml(SHOP), message)


@pytest.mark.parametrize("seconds", [-1, "5", float("nan"), float("inf"), True])
def test_invalid_settings_are_refused(seconds: Any) -> None:
    """Times are numbers of seconds; reset() restores the initial settings."""
    own = Expect()
    own.set_timeout(9)

    with pytest.raises(ConfigurationError, match=r"set_timeout\(\) must be a number of seconds"):
        own.set_timeout(seconds)
    with pytest.raises(ConfigurationError, match="linger= must be a number of seconds"):
        own.configure(linger=seconds)
    own.reset()

    assert own.settings.timeout is None


def test_frames_of_the_package_are_hidden() -> None:
    """Pytest shows no frame between the test's own line and the failure."""
    with pytest.raises(ExpectationError) as caught:
        expect(Snapshot.from_xml(SHOP)).to_have_node(text="Cheese")

    frames = list(traceback.walk_tb(caught.value.__traceback__))[1:]

    assert frames
    assert all(frame.f_globals.get("__tracebackhide__") for frame, _ in frames)


def test_expect_looks_like_a_function() -> None:
    """Its name and docstring are those of a function."""
    assert expect.__name__ == "expect"
    assert expect.__doc__


def test_a_screen_that_is_never_read_is_not_a_failed_check() -> None:
    """The reason is raised; it names the locator, and can be soft."""
    claw = client(Phone(data={"snapshot_ui": {"error": "UI_TREE_UNAVAILABLE"}}), timeout=0.0)

    with collecting() as failures:
        expect.soft(claw.node(text="x"), "the greeting").to_be_visible()

    (error,) = failures.errors
    assert isinstance(error, SnapshotError)
    assert error.code == "UI_TREE_UNAVAILABLE"
    assert "the greeting: expected node(text='x') to be visible, found" in str(error)
    with pytest.raises(SnapshotError, match="UI_TREE_UNAVAILABLE"):
        expect(claw.node(text="x")).to_be_visible()
