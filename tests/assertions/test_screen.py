"""What can be expected of a whole screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.errors import ConfigurationError, ExpectationError
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.clock import FakeTime
from tests.doubles.runner import PACKAGE, SHOP, Phone, client

PROMPT = "com.android.permissioncontroller"


def device(**data: str) -> Clawperator:
    """Make a device whose snapshots come with these data."""
    return client(Phone(data={"snapshot_ui": {"text": SHOP, **data}}), timeout=0.1)


def failure(hold: Callable[[], None]) -> str:
    """Give the text of the failure."""
    with pytest.raises(ExpectationError) as caught:
        hold()
    return str(caught.value)


@pytest.fixture
def expect() -> Expect:
    """Give an expect whose time takes none."""
    return Expect(clock=FakeTime().clock)


def test_app_in_front(expect: Expect) -> None:
    """The app in front is told by the snapshot, and waited for."""
    claw = client(Phone(SHOP))

    expect(claw).to_be_in_app(PACKAGE)
    expect(claw).not_to_be_in_app("com.other")
    told = failure(lambda: expect(claw).to_be_in_app("com.other", timeout=0.02))

    assert f"expected the screen to be in app com.other, found {PACKAGE}\n" in told
    assert f"  waited: 2 × {PACKAGE} in 20 ms\n" in told


def test_overlay(expect: Expect) -> None:
    """A window over the app is told by its package."""
    free, covered = device(has_overlay="false"), device(has_overlay="true", overlay_package=PROMPT)

    expect(free).to_have_no_overlay()
    expect(covered).not_to_have_no_overlay()
    told = failure(expect(covered).to_have_no_overlay)

    assert f"expected the screen to have no overlay, found a window of {PROMPT}\n" in told
    assert f"hint: Answer or close the window of {PROMPT} first." in told


@pytest.mark.parametrize("check", ["to_have_no_overlay", "not_to_have_no_overlay"])
def test_unknown_overlay_is_neither(expect: Expect, check: str) -> None:
    """An Operator that says nothing of overlays proves neither that there is one nor none."""
    told = failure(getattr(expect(device()), check))

    assert "found no word about overlays" in told


def test_node_on_a_snapshot(expect: Expect) -> None:
    """A snapshot's nodes are expected by their matchers, at once."""
    snapshot = Snapshot.from_xml(SHOP)

    expect(snapshot).to_have_node(text_contains="mil")
    expect(snapshot).not_to_have_node(text="Cheese")
    expect(snapshot).node(id="name").to_have_text(["Tea", "Milk", "Bread"])
    told = failure(lambda: expect(snapshot).to_have_node(text="Mild"))

    assert "expected node(text='Mild') to be visible, found no match" in told
    assert 'nearest: text "Milk"' in told


def test_node_on_the_screen_is_waited_for(expect: Expect) -> None:
    """The same of the client waits."""
    claw = client(Phone("<hierarchy><node/></hierarchy>", SHOP))

    expect(claw).to_have_node(text="Milk")


@pytest.mark.parametrize(
    ("check", "args"),
    [("to_be_in_app", (PACKAGE,)), ("to_have_no_overlay", ()), ("to_match_tree", ("- ...",))],
)
def test_snapshots_have_the_same_checks(expect: Expect, check: str, args: tuple[Any, ...]) -> None:
    """What can be expected of a screen can be expected of a snapshot, as it is."""
    snapshot = Snapshot.from_xml(SHOP, has_overlay=False)

    getattr(expect(snapshot), check)(*args)
    told = failure(lambda: getattr(expect(snapshot), f"not_{check}")(*args))

    assert "waited" not in told


@pytest.mark.parametrize("package", [5, "", None])
def test_app_is_named_by_a_text(expect: Expect, package: Any) -> None:
    """What can be no package is a mistake of the test."""
    with pytest.raises(ConfigurationError, match="named by its package"):
        expect(client(Phone(SHOP))).not_to_be_in_app(package)


def test_later_looks_are_bounded() -> None:
    """An execution that is sent while time runs out may not take longer than what is left."""
    phone = Phone(SHOP)
    time = FakeTime()

    failure(lambda: Expect(clock=time.clock)(client(phone)).to_be_in_app("x", timeout=200))

    assert phone.executions[-1].timeout_ms == 1_000
    assert all(1_000 <= each.timeout_ms <= 120_000 for each in phone.executions)
