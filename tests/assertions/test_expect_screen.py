"""Expectations about a whole screen."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.errors import ClawperatorWarning
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.expecting import failure
from tests.doubles.runner import PACKAGE, SHOP, Phone, client


def test_nodes_of_a_snapshot_are_checked_at_once(expect: Expect) -> None:
    """Nodes of a snapshot are checked by their matchers, without waiting."""
    snapshot = Snapshot.from_xml(SHOP)

    expect(snapshot).to_have_node(text_contains="mil")
    expect(snapshot).not_to_have_node(text="Cheese")
    expect(snapshot).node(id="name").to_have_text(["Tea", "Milk", "Bread"])
    message = failure(lambda: expect(snapshot).to_have_node(text="Mild"))

    assert "expected node(text='Mild') to be visible, found no match" in message
    assert 'nearest: text "Milk"' in message


def test_node_on_the_screen_is_waited_for(expect: Expect) -> None:
    """to_have_node of a client waits."""
    claw = client(Phone("<hierarchy><node/></hierarchy>", SHOP))

    expect(claw).to_have_node(text="Milk")


@pytest.mark.parametrize(
    ("check", "args"),
    [("to_be_in_app", (PACKAGE,)), ("to_have_no_overlay", ()), ("to_match_tree", ("- text",))],
)
def test_snapshots_have_the_same_checks(expect: Expect, check: str, args: tuple[Any, ...]) -> None:
    """A snapshot has the checks of a screen, without waiting."""
    snapshot = Snapshot.from_xml(SHOP, has_overlay=False)

    getattr(expect(snapshot), check)(*args)
    message = failure(lambda: getattr(expect(snapshot), f"not_{check}")(*args))

    assert "waited" not in message


def test_what_a_snapshot_does_not_show_is_not_known(expect: Expect) -> None:
    """Neither a check nor its opposite holds: of an unknown app, or of what was cut off."""
    with pytest.warns(ClawperatorWarning):
        broken = Snapshot.from_xml(SHOP[: SHOP.index("Bread")], partial=True)
    nameless = Snapshot.from_xml('<hierarchy><node bounds="[0,0][1,1]"/></hierarchy>')

    expect(broken).node(text="Milk").to_be_visible()
    expect(broken).node(text="Milk").not_to_be_hidden()
    for hold in (
        lambda: expect(broken).not_to_have_node(text="Bread"),
        lambda: expect(broken).node(text="Bread").to_be_hidden(),
        lambda: expect(broken).node(text="Bread").not_to_exist(),
        lambda: expect(broken).node(id="name").to_have_count(2),
        lambda: expect(broken).node(id="name").not_to_have_count(3),
        lambda: expect(broken).node(id="name").to_have_text(["Tea", "Milk"]),
    ):
        assert "found a snapshot that breaks off" in failure(hold)
    for check in (expect(nameless).to_be_in_app, expect(nameless).not_to_be_in_app):
        assert "found an unknown app" in failure(partial(check, PACKAGE))


def test_a_snapshot_is_as_strict_as_the_screen() -> None:
    """Several matching nodes fail a check of one, negated or not; those of all or any hold."""
    names = Expect()(Snapshot.from_xml(SHOP)).node(id="name")

    names.to_be_visible()
    names.to_have_count(3)
    for hold in (
        lambda: names.to_have_text("Tea"),
        lambda: names.not_to_have_text("Cheese"),
        names.to_be_enabled,
        names.to_be_in_viewport,
        names.not_to_be_in_viewport,
    ):
        assert "NODE_AMBIGUOUS" in failure(hold)
