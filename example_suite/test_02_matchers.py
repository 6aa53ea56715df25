"""Lesson 2: matchers. The same keywords describe a node in every method."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE, Conformance
from example_suite.pages.settings import PACKAGE as SETTINGS
from pytest_clawperator import Clawperator, NodeMatcher, expect

pytestmark = pytest.mark.claw_app(PACKAGE, missing="skip")


def test_a_node_by_its_text(clawperator: Clawperator) -> None:
    """`text` is the whole text; `text_contains` is a part of it, in upper or lower case."""
    expect(clawperator.node(text="Increment")).to_be_visible()
    expect(clawperator.node(text_contains="INCR")).to_be_visible()
    expect(clawperator.node(text="Incr")).not_to_be_visible(timeout=0)


def test_a_node_by_its_id(clawperator: Clawperator) -> None:
    """An id may be written without the package of its app."""
    expect(clawperator.node(id="btn_increment")).to_have_text("Increment")
    expect(clawperator.node(id=f"{PACKAGE}:id/btn_increment")).to_have_text("Increment")


def test_a_node_by_its_role(clawperator: Clawperator) -> None:
    """A role is the kind of widget; a node must match all keywords."""
    expect(clawperator.node(role="switch")).to_be_checked()
    expect(clawperator.node(role="button")).to_have_count(2)
    expect(clawperator.node(role="button", text_contains="list")).to_have_text("Open List")


def test_matchers_of_payloads(clawperator: Clawperator) -> None:
    """Matchers of payloads can be used too, as objects and as dicts."""
    clawperator.click(NodeMatcher.of(text="Increment"))
    clawperator.click({"textEquals": "Increment"})

    expect(clawperator.node({"resourceId": f"{PACKAGE}:id/txt_counter"})).to_have_text("Counter: 2")


def test_one_of_several(clawperator: Clawperator) -> None:
    """The first matching node is used; `nth` selects another, `nth(-1)` the last."""
    buttons = clawperator.node(role="button")

    assert buttons.nth(-1).read() == "Open List"
    assert [node.label for node in buttons.all()] == ["Increment", "Open List"]


def test_a_node_inside_another(clawperator: Clawperator, conformance: Conformance) -> None:
    """`within` is a container of the node, `has` a node inside it."""
    conformance.open_list()

    row = clawperator.node(id="item_row_3", has=clawperator.node(text="row_3"))

    assert clawperator.node(text="row_3", within=conformance.rows).exists()
    assert row.node(text="row_3").read() == "row_3"
    assert not row.node(text="row_4").exists()


@pytest.mark.claw_app(SETTINGS)
def test_on_any_phone(clawperator: Clawperator) -> None:
    """The closest marker applies. Texts differ from phone to phone, ids and roles less."""
    rows = clawperator.node(id="title")

    expect(rows).to_be_visible()
    assert rows.count() > 3
