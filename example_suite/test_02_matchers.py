"""Lesson 2: which node is meant. The keywords are the same everywhere."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE, Conformance
from example_suite.pages.settings import PACKAGE as SETTINGS
from pytest_clawperator import Clawperator, NodeMatcher, expect

pytestmark = pytest.mark.claw_app(PACKAGE)


def test_by_text(clawperator: Clawperator) -> None:
    """`text` is the whole text, `text_contains` a part of it in any case."""
    expect(clawperator.node(text="Increment")).to_be_visible()
    expect(clawperator.node(text_contains="INCR")).to_be_visible()
    expect(clawperator.node(text="Incr")).not_to_be_visible(timeout=0)


def test_by_id(clawperator: Clawperator) -> None:
    """An id may leave out the package of its app."""
    expect(clawperator.node(id="btn_increment")).to_have_text("Increment")
    expect(clawperator.node(id=f"{PACKAGE}:id/btn_increment")).to_have_text("Increment")


def test_by_role(clawperator: Clawperator) -> None:
    """A role is what people call a widget; all keywords that are given must fit."""
    expect(clawperator.node(role="switch")).to_be_checked()
    expect(clawperator.node(role="button")).to_have_count(2)
    expect(clawperator.node(role="button", text_contains="list")).to_have_text("Open List")


def test_in_the_words_of_the_wire(clawperator: Clawperator) -> None:
    """Matchers of payloads can be used as they are, as objects and as dicts."""
    clawperator.click(NodeMatcher.of(text="Increment"))
    clawperator.click({"textEquals": "Increment"})

    expect(clawperator.node({"resourceId": f"{PACKAGE}:id/txt_counter"})).to_have_text("Counter: 2")


def test_one_of_several(clawperator: Clawperator) -> None:
    """The first that fits is used, or another by its number; `nth(-1)` is the last."""
    buttons = clawperator.node(role="button")

    assert buttons.nth(-1).read() == "Open List"
    assert [node.label for node in buttons.all()] == ["Increment", "Open List"]


def test_inside_another(clawperator: Clawperator, conformance: Conformance) -> None:
    """`within` is a node around the wanted one, `has` one inside it."""
    conformance.open_list()

    row = clawperator.node(id="item_row_3", has=clawperator.node(text="row_3"))

    assert clawperator.node(text="row_3", within=conformance.rows).exists()
    assert row.node(text="row_3").read() == "row_3"
    assert not row.node(text="row_4").exists()


@pytest.mark.claw_app(SETTINGS)
def test_on_any_phone(clawperator: Clawperator) -> None:
    """The closest marker counts; rows differ from phone to phone, ids and roles less."""
    rows = clawperator.node(id="title")

    expect(rows).to_be_visible()
    assert rows.count() > 3
