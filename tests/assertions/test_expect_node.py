"""Expectations about a node: how they wait, and for what."""

from __future__ import annotations

from functools import partial

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.clock import FakeTime
from tests.doubles.expecting import FORM, failure
from tests.doubles.runner import PACKAGE, SHOP, Phone, client, node, screen


@pytest.mark.parametrize(
    ("given", "set_to", "seconds"), [(None, None, 3.0), (None, 2.0, 2.0), (1.0, 2.0, 1.0)]
)
def test_the_nearest_timeout_applies(
    given: float | None, set_to: float | None, seconds: float
) -> None:
    """The check's comes first, then the one that was set, then the client's; linger=0 is none."""
    time = FakeTime()
    expect = Expect(clock=time.clock)
    expect.configure(linger=0)
    expect.set_timeout(set_to)
    claw = client(Phone(), timeout=3.0)

    failure(lambda: expect(claw.node(text="x")).to_be_visible(timeout=given))

    assert time.now == pytest.approx(seconds)


def test_each_check_takes_one_snapshot() -> None:
    """Also for a locator with several parts."""
    phone = Phone(SHOP)
    expect = Expect(clock=FakeTime().clock)
    expect.configure(linger=0)
    claw = client(phone, timeout=0.04)
    row = claw.node(id="list").node(id="row", has=claw.node(text="Cheese"))

    failure(expect(row).to_be_visible)

    assert phone.types == [["snapshot_ui"]] * 3


def test_several_nodes_fail_a_check_of_one() -> None:
    """Several matching nodes fail a check of one, negated or not, and not one of all or any."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), timeout=0.0)
    names = claw.node(id="name")

    expect(names).to_have_count(3)
    expect(names).to_have_text(["Tea", "Milk", "Bread"])
    expect(names).to_be_visible()
    expect(names.first).to_have_text("Tea")
    message = failure(lambda: expect(names).to_have_text("Milk"))
    opposite = failure(lambda: expect(names).not_to_be_enabled())

    assert "NODE_AMBIGUOUS: expected node(id='name') to have text" in message
    assert "found 3 nodes that match" in message
    assert '2. text "Milk" com.example.shop:id/name [0,300][500,350]: as expected' in message
    assert "NODE_AMBIGUOUS" in opposite


def test_several_nodes_for_a_moment_are_waited_for() -> None:
    """A screen that replaces another is not a failure."""
    expect = Expect(clock=FakeTime().clock)
    one = screen(node(text="Tea", id="name", kind="TextView"))
    claw = client(Phone(SHOP, SHOP, one), timeout=5.0)

    expect(claw.node(id="name")).to_have_text("Tea")


def test_node_of_a_snapshot_is_not_waited_for() -> None:
    """It is checked immediately, without a device."""
    expect = Expect()
    snapshot = Snapshot.from_xml(FORM)

    expect(snapshot.find(id="wifi")).to_be_checked()
    message = failure(expect(snapshot.find(id="wifi")).not_to_be_checked)

    assert "not to be checked" in message
    assert "waited" not in message


HIDDEN = screen(
    node(
        node(text="Inside", id="inside", kind="CheckBox", checkable=True, checked=True),
        bounds="[0,5000][1080,5050]",
    )
)


@pytest.mark.parametrize(("shown", "text"), [(FORM, "Away"), (HIDDEN, "Inside")])
def test_a_node_found_off_the_screen_is_hidden(shown: str, text: str) -> None:
    """It exists, and has neither a state nor a text; also if its own bounds are on the screen."""
    expected = Expect()(Snapshot.from_xml(shown).find(text=text, on_screen=False))

    expected.to_exist()
    expected.not_to_be_visible()
    expected.to_be_hidden()
    expected.to_have_count(0)
    expected.not_to_be_in_viewport()
    for hold in (
        expected.to_be_in_viewport,
        expected.to_be_enabled,
        expected.not_to_be_disabled,
        expected.not_to_be_focused,
        lambda: expected.to_have_text(text),
        lambda: expected.not_to_have_text("x"),
        lambda: expected.to_have_text([text]),
        lambda: expected.to_have_role("text"),
        lambda: expected.not_to_have_role("switch"),
    ):
        assert "found off-screen" in failure(hold)


def test_a_short_id_in_a_matcher_object_hides_nothing() -> None:
    """Its ids are whole, so that it matches no node, and a check of absence would always hold."""
    expect = Expect(clock=FakeTime().clock)
    claw = client(Phone(SHOP), timeout=0.0)
    located = [
        claw.node(NodeMatcher.of(id="list")),
        claw.node({"resourceId": "list"}).node(text="Tea"),
        claw.node(id="row", has={"resourceId": "name"}),
    ]

    for locator in located:
        for hold in (
            expect(locator).to_be_hidden,
            expect(locator).not_to_exist,
            partial(expect(locator).to_have_count, 0),
            partial(expect(locator).not_to_have_count, 1),
        ):
            assert "found no match by the whole id, but " in failure(hold)
    expect(claw.node({"resourceId": "no_such_id"})).to_be_hidden()
    expect(claw.node({"resourceId": f"{PACKAGE}:id/list"})).to_be_visible()
