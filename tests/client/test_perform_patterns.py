"""Regular expressions: what fits is looked up on a snapshot, and no pattern is ever sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.contracts.actions import Click
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import (
    ConfigurationError,
    ExecutionValidationError,
    NodeNotFoundError,
)
from tests.doubles.runner import PACKAGE, SHOP, Phone, client, moving, page, screen

MILK = re.compile(r"^M\w+$")

EMPTY = screen()


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        (lambda claw: claw.click(text=MILK), "click"),
        (lambda claw: claw.long_click(NodeMatcher.of(text=MILK)), "click"),
        (lambda claw: claw.click({"text": MILK}), "click"),
        (lambda claw: claw.node(text=MILK).click(), "click"),
        (lambda claw: claw.enter_text("x", text=MILK), "enter_text"),
        (lambda claw: claw.focus(text=MILK), "click"),
    ],
)
def test_the_node_that_fits_is_sent_by_its_own_matcher(
    use: Callable[[Clawperator], Any], kind: str
) -> None:
    """A look finds the node, and what is sent names it by a text that the device understands."""
    phone = Phone(SHOP)

    use(client(phone))

    assert phone.types[0] == ["snapshot_ui"]
    assert [params["matcher"] for params in phone.params(kind)] == [{"textEquals": "Milk"}]


def test_ids_are_searched_short_and_whole() -> None:
    """A pattern for an id may be about its name, or about all of it."""
    claw = client(Phone(SHOP))

    assert claw.node(id=re.compile(r"^(name|price)$")).count() == 6
    assert claw.node(id=re.compile(rf"^{re.escape(PACKAGE)}:id/na")).count() == 3


def test_looks_and_reads_take_patterns() -> None:
    """What only looks needs no more than the snapshot."""
    phone = Phone(SHOP)
    claw = client(phone)
    row = claw.node(id="row", has=claw.node(text=MILK))

    assert claw.node(text=MILK).exists()
    assert not claw.node(text=re.compile("^Coffee")).exists()
    assert claw.read_text(id="price", within=row) == "$2"
    assert claw.read_all_text(text=re.compile(r"^\$\d$")) == ["$3", "$2", "$4"]
    assert claw.node(text=re.compile("Buy")).nth(1).bounds().top == 300
    assert {kind for kinds in phone.types for kind in kinds} == {"snapshot_ui"}


def test_a_node_is_waited_for() -> None:
    """A pattern is looked for until it fits."""
    phone = Phone(EMPTY, EMPTY, SHOP)

    client(phone).wait_for_node(text=MILK)

    assert {kind for kinds in phone.types for kind in kinds} <= {"snapshot_ui", "sleep"}


def test_a_list_is_searched_page_by_page() -> None:
    """The device cannot search for a pattern, so each page is looked at."""
    phone = Phone(page("A", "B"), page("C", "D"), data={"scroll": moving(5)})

    outcome = client(phone).scroll_until(text=re.compile("[D-Z]"))

    assert outcome.found
    assert phone.params("scroll_until") == []


def test_a_batch_looks_up_what_it_must() -> None:
    """In a batch a pattern begins another execution, after a look."""
    phone = Phone(SHOP)

    with client(phone).batch() as b:
        b.home()
        b.click(text=MILK)

    assert [params["matcher"] for params in phone.params("click")] == [{"textEquals": "Milk"}]


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda claw: claw.wait_for_navigation(text=MILK), ConfigurationError),
        (lambda claw: claw.execute([Click(NodeMatcher.of(text=MILK))]), ExecutionValidationError),
        (
            lambda claw: claw.execute([{"type": "click", "params": {"matcher": {"text": MILK}}}]),
            ExecutionValidationError,
        ),
    ],
)
def test_where_only_the_device_can_look_a_pattern_is_refused(
    use: Callable[[Clawperator], Any], error: type[Exception]
) -> None:
    """What would have to be sent is refused, and nothing is sent."""
    phone = Phone(SHOP)

    with pytest.raises(error):
        use(client(phone))

    assert phone.executions == []


def test_a_scroll_in_a_batch_needs_a_text() -> None:
    """A batch cannot look at pages on its way."""
    phone = Phone(SHOP)

    with (
        pytest.raises(ConfigurationError, match="a matcher that the device understands") as caught,
        client(phone).batch() as b,
    ):
        b.scroll_until(text=MILK)

    assert "no pattern" in str(caught.value.hint)


def test_a_miss_shows_the_pattern_and_what_comes_near() -> None:
    """The error has the pattern as it was written, and the nodes that nearly match it."""
    with pytest.raises(NodeNotFoundError) as caught:
        client(Phone(SHOP)).click(text=re.compile(r"^Milch$"), timeout=0)

    assert r"no node(text=re.compile('^Milch$')) on the screen" in str(caught.value)
    assert "text is `Milk`, wanted one with the pattern `^Milch$`" in str(caught.value)


@pytest.mark.parametrize("given", ["OK", re.compile("OK")])
def test_a_bare_text_is_no_node(given: Any) -> None:
    """What other tools take as a selector is refused with the keyword to write."""
    with pytest.raises(ConfigurationError) as caught:
        client(Phone(SHOP)).click(given)

    assert f"Write text={given!r}" in str(caught.value.hint)


def test_nothing_sent_has_a_pattern_in_it() -> None:
    """What goes to the device is JSON, so no pattern can be hidden in it."""
    phone = Phone(SHOP)

    client(phone).click(text=MILK)

    assert "re.compile" not in json.dumps(phone.sent)
